# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the files of a report from what a run has found."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import margins
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    csv_long,
    figures,
    figures_forest,
    figures_hosts,
    html,
    junit,
    markdown,
    split,
    written,
)
from ansible_collections.dgxspark.serving.plugins.plugin_utils import bench_pictures

FORMATS = ("markdown", "csv", "html", "junit")
NOT_WANTED = "Pictures were not asked for."

Rounds = Sequence[Mapping[str, Any]]


def files(result: Mapping[str, Any], rounds: Rounds, formats: Sequence[str], pictures: bool) -> dict[str, bytes]:
    """The contents by their names; ``result.json`` and the requests are always among them."""
    texts = {}
    if "markdown" in formats:
        texts["report.md"] = markdown.text(result)
    if "csv" in formats:
        texts["report.csv"] = csv_long.text(result)
    if "html" in formats:
        drawn = bench_pictures.draw(to_draw(result, rounds)) if pictures else []
        texts["report.html"] = html.page(result, drawn, _why_none(pictures))
    if "junit" in formats:
        texts["junit.xml"] = junit.text(result)
    requests = "".join(f"{line}\n" for line in split.request_lines(rounds))
    return {
        **{name: _bytes(text) for name, text in texts.items()},
        # No time stamp: the same requests give the same bytes.
        str(result["requests_file"]): gzip.compress(_bytes(requests), mtime=0),
        "result.json": _bytes(written.text(result)),
    }


def to_draw(result: Mapping[str, Any], rounds: Rounds) -> list[figures.Figure]:
    """Every figure that the result has."""
    comparison = result["comparison"] or {}
    return [
        *figures.of_cases(result["points"], rounds),
        *figures_forest.of_comparison(result["comparison"]),
        *figures_forest.of_pairs(result["pairs"], comparison.get("margins") or margins.laid_over(None)),
        *figures_hosts.of_hosts(result, rounds),
    ]


def _why_none(wanted: bool) -> str:
    if not wanted:
        return NOT_WANTED
    return "" if bench_pictures.available() else html.NO_PICTURES


def _bytes(text: str) -> bytes:
    # Half a character, as a cut stream may leave it, must not keep a report from being written.
    return text.encode("utf-8", "replace")
