# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How each kind of figure of the benchmark is drawn. An edge: it works on matplotlib's figures, which it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures import Curves, Shares, Strip
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures_forest import Forest
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures_hosts import Timeline
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_style import SERIES

_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))
_MARKERS = "osD^vP"
_VERDICTS = {
    "regression": "bad",
    "worse": "bad",
    "improvement": "good",
    "better": "good",
    "no change": "even",
    "no difference": "even",
    "inconclusive": "unsure",
}
# Below this a run is told in seconds, above it in minutes.
_MINUTES_FROM = 300.0
# As many letters as stand side by side in a plot.
MOST_OF_A_LABEL = 64


class Colours:
    """The page's colours by name, and one for each target."""

    def __init__(self, by_name: Mapping[str, str]) -> None:
        self._by_name = by_name

    def named(self, name: str) -> str:
        return self._by_name[name]

    def series(self, number: int) -> str:
        return self._by_name[f"series-{number % SERIES + 1}"]


def _curves(canvas: Any, figure: Curves, colours: Colours) -> None:
    axes = canvas.subplots()
    for curve in figure.curves:
        x, y = ([value[index] for value in curve.values] for index in (0, 1))
        colour, style = colours.series(curve.colour), curve.colour % SERIES
        known = [value for value in curve.values if value[2] is not None and value[3] is not None]
        axes.fill_between(
            [value[0] for value in known],
            [value[2] for value in known],
            [value[3] for value in known],
            color=colour,
            alpha=0.18,
            linewidth=0,
        )
        axes.plot(x, y, color=colour, linestyle=_DASHES[style], marker=_MARKERS[style], markersize=5, label=curve.name)
    users = sorted({value[0] for curve in figure.curves for value in curve.values})
    _powers(axes, users)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("users at once (N)")
    axes.set_ylabel(figure.y_label)
    _legend(canvas, axes)


def _powers(axes: Any, users: Sequence[float]) -> None:
    """Users double from point to point: equal steps for equal factors."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(users, [f"{number:g}" for number in users])
    axes.minorticks_off()


def _shares(canvas: Any, figure: Shares, colours: Colours) -> None:
    axes = canvas.subplots()
    for name, number, values in figure.samples:
        shares = [(index + 1) / len(values) * 100 for index in range(len(values))]
        dash = _DASHES[number % SERIES]
        axes.step(
            [values[0], *values], [0.0, *shares], where="post", color=colours.series(number), linestyle=dash, label=name
        )
    axes.set_xlim(left=0)
    axes.set_ylim(0, 102)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel("requests (%)")
    _legend(canvas, axes)


def _strip(canvas: Any, figure: Strip, colours: Colours) -> None:
    axes = canvas.subplots()
    names = list(dict.fromkeys(name for _group, name, _colour, _value in figure.dots))
    width = 0.6 / max(len(names), 1)
    for place, name in enumerate(names):
        own = [dot for dot in figure.dots if dot[1] == name]
        style = own[0][2] % SERIES
        x = [group + (place - (len(names) - 1) / 2) * width for group, _name, _colour, _value in own]
        axes.plot(
            x,
            [dot[3] for dot in own],
            linestyle="none",
            marker=_MARKERS[style],
            markersize=6,
            markerfacecolor="none",
            markeredgecolor=colours.series(style),
            markeredgewidth=1.4,
            label=name,
        )
    axes.set_xticks(range(len(figure.groups)), figure.groups)
    axes.set_xlim(-0.6, len(figure.groups) - 0.4)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, max(dot[3] for dot in figure.dots) * 1.1 or 1)
    axes.set_xlabel("users at once, or requests a second")
    axes.set_ylabel(figure.y_label)
    _legend(canvas, axes)


def _forest(canvas: Any, figure: Forest, colours: Colours) -> None:
    axes = canvas.subplots()
    least, most = figure.span
    for number, row in enumerate(figure.rows):
        y = len(figure.rows) - 1 - number
        if row.margin is not None:
            left, right = max(row.margin[0], least), min(row.margin[1], most)
            axes.fill_betweenx([y - 0.2, y + 0.2], left, right, color=colours.named("rule"), alpha=0.55, linewidth=0)
        colour = colours.named(_VERDICTS.get(row.verdict, "even"))
        if row.ends is not None:
            ends = [max(row.ends[0], least), min(row.ends[1], most)]
            axes.plot(ends, [y, y], color=colour, linewidth=1.8, solid_capstyle="butt")
            for end, shown, arrow in zip(row.ends, ends, "<>", strict=True):
                if end != shown:
                    axes.plot([shown], [y], color=colour, marker=arrow, markersize=5.5)
        axes.plot([row.ratio], [y], color=colour, marker="o", markersize=5.5)
        # The label stands above its line: beside the axes it would leave no room on a telephone.
        label = _short(f"{row.label}: {row.verdict}")
        axes.text(0.0, y + 0.24, label, transform=axes.get_yaxis_transform(), fontsize=9, va="bottom")
    axes.axvline(1.0, color=colours.named("faint"), linewidth=1)
    axes.set_ylim(-0.5, len(figure.rows) - 0.1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(figure.x_label)


def _short(label: str) -> str:
    return label if len(label) <= MOST_OF_A_LABEL else label[: MOST_OF_A_LABEL - 1] + "\u2026"


def _timeline(canvas: Any, figure: Timeline, colours: Colours) -> None:
    rows = canvas.subplots(len(figure.panels), 1, sharex=True, squeeze=False)[:, 0]
    longest = max(time for panel in figure.panels for time, _value in panel.series)
    unit, size = ("min", 60.0) if longest > _MINUTES_FROM else ("s", 1.0)
    for number, (axes, panel) in enumerate(zip(rows, figure.panels, strict=True)):
        x = [time / size for time, _value in panel.series]
        y = [value for _time, value in panel.series]
        colour = colours.series(number)
        axes.plot(x, y, color=colour, linewidth=1.3, drawstyle="steps-post")
        if panel.from_zero:
            axes.fill_between(x, y, color=colour, alpha=0.15, linewidth=0, step="post")
            axes.set_ylim(0, panel.top or max([*y, 0.001]) * 1.12)
        else:
            axes.margins(y=0.2)
        axes.set_ylabel(panel.label, fontsize=9)
        axes.locator_params(axis="y", nbins=3)
    rows[-1].set_xlim(0, longest / size)
    rows[-1].set_xlabel(f"time since the first measured round ({unit})")
    canvas.align_ylabels(list(rows))


def _legend(canvas: Any, axes: Any) -> None:
    """Above the axes, where no line runs through it; a single target needs none but is named as well."""
    handles, names = axes.get_legend_handles_labels()
    canvas.legend(handles, names, loc="outside upper left", ncols=min(len(names), 3), fontsize=9.5)


DRAWINGS: Mapping[type, Callable[[Any, Any, Colours], None]] = {
    Curves: _curves,
    Shares: _shares,
    Strip: _strip,
    Forest: _forest,
    Timeline: _timeline,
}
