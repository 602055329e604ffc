# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a self-test of the client has shown: its figures against what was really sent. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import distribution

# What is said of a self-test, whether or not it could be made; benchmark.md 5.6 has the first two of the errors.
NOTHING: Mapping[str, Any] = {
    "host": None,
    "streams": None,
    "gap_ms": None,
    "tokens": None,
    "ttft_err_pct": None,
    "itl_p99_err_pct": None,
    "tpot_err_pct": None,
    "threads_tpot_diff_pct": None,
    "valid": None,
    "seconds": None,
    "error": None,
}

Records = Sequence[Mapping[str, Any]]
Sent = Mapping[int, Mapping[str, Any]]
_Ratios = dict[str, "float | None"]


def figures(ours: Records, ours_sent: Sent, threads: Records, threads_sent: Sent) -> dict[str, Any]:
    """By how much the client's figures are off, in percent of what was sent to it.

    The two transports are compared by their errors, not by their times: what held up the server between the two
    says nothing of either.

    :param ours: records of the client that measures; ``threads``: those of the second transport
    :param ours_sent: by id of the request ``arrived`` and ``sends``, in seconds; ``threads_sent``: the same
    :returns: the keys of NOTHING so far as they come of this
    """
    failed = [one["error"] for one in (*ours, *threads) if one["error"] is not None]
    if failed:
        first = failed[0]
        words = f"{len(failed)} of {len(ours) + len(threads)} requests failed: {first['kind']} ({first['message']})"
        return {"error": words}
    one, other = _ratios(ours, ours_sent), _ratios(threads, threads_sent)
    return {
        "tokens": sum(record["tokens"]["completion"] or 0 for record in ours),
        "ttft_err_pct": _percent(one["ttft"], 1.0),
        "itl_p99_err_pct": _percent(one["itl_p99"], 1.0),
        "tpot_err_pct": _percent(one["tpot"], 1.0),
        "threads_tpot_diff_pct": _percent(one["tpot"], other["tpot"]),
    }


def _ratios(records: Records, sent: Sent) -> _Ratios:
    """The client's figures over the true ones."""
    rows = [(record, sent[record["id"]]) for record in records if sent.get(record["id"], {}).get("sends")]
    return {
        "ttft": _ratio(
            [record["ttft_ms"] for record, _row in rows],
            [1000.0 * (row["sends"][0] - row["arrived"]) for _record, row in rows],
            median,
        ),
        "itl_p99": _ratio(
            [gap for record, _row in rows for gap in record["gaps_ms"]],
            [1000.0 * (later - earlier) for _record, row in rows for earlier, later in pairwise(row["sends"])],
            _p99,
        ),
        "tpot": _ratio(
            [record["tpot_ms"] for record, _row in rows],
            [
                1000.0 * (row["sends"][-1] - row["sends"][0]) / (len(row["sends"]) - 1)
                for _record, row in rows
                if len(row["sends"]) > 1
            ],
            fmean,
        ),
    }


def _ratio(
    found: Sequence[float | None], true: Sequence[float], what: Callable[[list[float]], float | None]
) -> float | None:
    """One figure of both, divided; None where either does not exist."""
    known = [value for value in found if value is not None]
    if not known or not true:
        return None
    one, other = what(known), what(list(true))
    return None if one is None or not other else one / other


def _p99(values: list[float]) -> float | None:
    """None of fewer values than it takes."""
    found: float | None = distribution(values, "")["p99"]
    return found


def _percent(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else round(100.0 * (one / other - 1.0), 2)
