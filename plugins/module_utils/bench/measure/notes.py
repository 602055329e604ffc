# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be said beside the figures of a point, as findings for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import validity

Point = Mapping[str, Any]


def findings_of_points(points: Sequence[Point]) -> list[dict[str, str]]:
    """Chunks of several tokens, and tokens that nobody counted."""
    found = []
    for point in points:
        found += _not_counted(point)
    return [*found, *_several_a_chunk(points)]


def _finding(code: str, severity: str, text: str) -> dict[str, str]:
    return {"code": code, "severity": severity, "text": text}


def _not_counted(point: Point) -> list[dict[str, str]]:
    if point["token_source"] not in ("none", "mixed"):
        return []
    whose = "any answer" if point["token_source"] == "none" else "every answer"
    text = (
        f"{point['id']}: the server did not say how many tokens {whose} has, neither in usage nor at /tokenize, so "
        "figures of tokens are not known. A gateway that drops stream_options does this."
    )
    return [_finding("tokens_not_counted", "warning", text)]


def _several_a_chunk(points: Sequence[Point]) -> list[dict[str, str]]:
    named = [point for point in points if point["itl_name"] == validity.INTER_CHUNK]
    if not named:
        return []
    most = max(point["summary"]["tokens_per_chunk"]["mean"] for point in named)
    text = (
        f"Events of {len(named)} points bring up to {most:.1f} tokens each, as with speculative decoding: ITL is the "
        "gap between events there; TPOT and tok/s count tokens and are not concerned."
    )
    return [_finding("inter_chunk", "info", text)]
