# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of a second source: ours, its figure, and whether they agree; the same in Markdown and in the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell, words
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import figure

TITLE = "Second source"
HEAD = (
    "point",
    "TPOT (ms), ours",
    "vllm-rs",
    "ours / vllm-rs",
    "TTFT (ms), ours",
    "vllm-rs",
    "tok/s all, ours",
    "vllm-rs",
    "prompt tokens, ours",
    "vllm-rs",
    "agrees",
)
_AGREES = {True: "yes", False: "NO", None: "not known"}


def rows(section: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """A row for each point that both have asked."""
    return [
        (
            words(row["point"]),
            *_pair(row, "tpot_ms"),
            Cell(figure(row["metrics"]["tpot_ms"]["ratio"])),
            *_pair(row, "ttft_ms"),
            *_pair(row, "output_tps"),
            *(Cell(figure(row["prompt_tokens"][whose])) for whose in ("ours", "second")),
            words(_AGREES[row["agrees"]]),
        )
        for row in section["rows"]
    ]


def _pair(row: Mapping[str, Any], metric: str) -> tuple[Cell, Cell]:
    """Ours with the range of its rounds, and the other's."""
    one = row["metrics"][metric]
    known = one["lo"] is not None and one["lo"] != one["hi"]
    spread = f"{figure(one['lo'])}\u2013{figure(one['hi'])}" if known else ""
    return Cell(figure(one["ours"]), spread), Cell(figure(one["second"]))
