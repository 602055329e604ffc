# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the benchmark's figures with matplotlib, as SVG that takes its colours from the page. An edge: matplotlib."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures import Curves, Figure, Shares, Strip
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures_forest import Forest
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures_hosts import Timeline
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_parts import Picture, safe
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_style import SERIES
from ansible_collections.dgxspark.serving.plugins.plugin_utils.bench_drawings import DRAWINGS, Colours

with contextlib.suppress(ImportError):
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

# Colours that nothing else has: in the SVG they give way to the page's own, so that it follows light and dark.
_STAND_INS = {
    "#010203": "ink",
    "#010204": "faint",
    "#010205": "rule",
    "#010206": "good",
    "#010207": "bad",
    "#010208": "unsure",
    "#010209": "even",
    **{f"#0102{0x10 + number:02x}": f"series-{number + 1}" for number in range(SERIES)},
}
_BY_NAME = {name: stand_in for stand_in, name in _STAND_INS.items()}
# Inches of 72 units: about as wide as a telephone, so that letters are not made small there.
WIDTH = 5.4
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dgxspark.serving",
    # A dollar in a name is one.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.edgecolor": _BY_NAME["faint"],
    "axes.labelcolor": _BY_NAME["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _BY_NAME["rule"],
    "grid.linewidth": 0.7,
    "text.color": _BY_NAME["ink"],
    "xtick.color": _BY_NAME["faint"],
    "ytick.color": _BY_NAME["faint"],
    "xtick.labelcolor": _BY_NAME["ink"],
    "ytick.labelcolor": _BY_NAME["ink"],
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def available() -> bool:
    """Whether matplotlib is there."""
    return "mpl" in globals()


def draw(figures: Sequence[Figure]) -> list[Picture]:
    """Draw each figure; nothing when matplotlib is not there."""
    return [_draw(figure) for figure in figures] if available() else []


def _draw(figure: Figure) -> Picture:
    drawing: Callable[[Any, Any, Colours], None] = DRAWINGS[type(figure)]
    with mpl.rc_context(_SETTINGS):
        canvas = Canvas(figsize=_size(figure), layout="constrained")
        FigureCanvasSVG(canvas)
        drawing(canvas, figure, Colours(_BY_NAME))
        stream = io.StringIO()
        canvas.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return Picture(figure.id, figure.place, figure.title, figure.caption, _within_page(stream.getvalue(), figure))


def _size(figure: Figure) -> tuple[float, float]:
    if isinstance(figure, Forest):
        return WIDTH, 1.0 + 0.46 * len(figure.rows)
    if isinstance(figure, Timeline):
        return WIDTH, 0.8 + 1.05 * len(figure.panels)
    if isinstance(figure, (Curves, Shares, Strip)):
        return WIDTH, 3.4
    raise TypeError(f"no size for {type(figure).__name__}")


def _within_page(svg: str, figure: Figure) -> str:
    """The drawing as a part of a page: its own ids, the page's colours and letters, no size, a name for readers."""
    found = svg[svg.index("<svg") :].strip()
    found = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", found, flags=re.DOTALL)
    found = re.sub(r"\n\s*(?=\n)", "", found)
    found = re.sub(r'\sid="([^"]+)"', rf' id="{figure.id}-\1"', found)
    found = re.sub(r"url\(#([^)]+)\)", rf"url(#{figure.id}-\1)", found)
    found = re.sub(r'href="#([^"]+)"', rf'href="#{figure.id}-\1"', found)
    found = re.sub("|".join(_STAND_INS), lambda match: f"var(--{_STAND_INS[match[0]]})", found)
    found = re.sub(r"(font(?:-family)?: [^;\"]*?)(?:'[^']*',? ?)+(?:sans-serif)?", r"\1sans-serif", found)
    box = re.search(r'viewBox="[^"]+"', found)
    name = safe(f"{figure.title}. {figure.caption}")
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    head = f'<svg {spaces} {box[0] if box else ""} role="img" aria-label="{name}">'
    return head + found[found.index(">") + 1 :]
