# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the hosts did during the measured time, one line each."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell, words
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import NOT_KNOWN, figure, gib, share
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import throttle

HEAD = (
    "host",
    "samples",
    "least memory available (GiB)",
    "most swap used (GiB)",
    "memory stalls, full (%)",
    "GPU median (%)",
    "GPU at most (%)",
    "power (W)",
    "hottest (\u00b0C)",
    "lowest clock (MHz)",
    "clock held down",
    "network (Gb/s)",
    "RDMA (Gb/s)",
    "sampler's CPU",
)

# In a reader's words, which reasons they stand for. An idle GPU and a clock that the user set are no news.
_HELD = {
    "power cap": (throttle.POWER_CAP,),
    "thermal": throttle.THERMAL,
    "hardware": ("hw_slowdown", "hw_power_brake_slowdown"),
}
Sample = Mapping[str, Any]


def rows(snapshots: Mapping[str, Mapping[str, Any]]) -> list[tuple[Cell, ...]]:
    """Cells of each host, in the order of :data:`HEAD`."""
    return [_row(host, seen) for host, seen in sorted(snapshots.items())]


def values(samples: Sequence[Sample], group: str, key: str) -> list[float]:
    """What is known of a key, over time."""
    found = [(sample.get(group) or {}).get(key) for sample in samples]
    return [value for value in found if value is not None]


def rates(samples: Sequence[Sample], group: str) -> Iterator[tuple[float, float]]:
    """(time, Gb/s) of the interfaces of a group together, both ways, from one sample to the next."""
    for before, after in itertools.pairwise(samples):
        seconds = after["t"] - before["t"]
        old, new = before.get(group) or {}, after.get(group) or {}
        if seconds > 0 and old and new:
            moved = sum(max(new[name][way] - old[name][way], 0) for name in new if name in old for way in ("rx", "tx"))
            yield after["t"], moved * 8 / 1e9 / seconds


def _row(host: str, seen: Mapping[str, Any]) -> tuple[Cell, ...]:
    samples = seen["during"]
    if not samples:
        nothing = Cell(NOT_KNOWN, why="no sample was taken while something was measured")
        return (words(host), Cell("0"), *[nothing] * (len(HEAD) - 3), _cost(seen))
    return (
        words(host),
        Cell(str(len(samples))),
        _of(values(samples, "mem", "available"), min, gib),
        _of(values(samples, "mem", "swap_used"), max, gib),
        _of(values(samples, "psi", "memory_full"), max),
        _of(values(samples, "gpu", "util_pct"), statistics.median),
        _of(values(samples, "gpu", "util_pct"), max),
        _of(values(samples, "gpu", "power_w"), statistics.fmean),
        _of(values(samples, "gpu", "temp_c"), max),
        _of(values(samples, "gpu", "clock_mhz"), min),
        _held(samples),
        _of([rate for _time, rate in rates(samples, "net")], statistics.fmean, _gigabits),
        _of([rate for _time, rate in rates(samples, "rdma")], statistics.fmean, _gigabits),
        _cost(seen),
    )


def _of(
    known: Sequence[float], pick: Callable[[Sequence[float]], float], shown: Callable[[float], str] = figure
) -> Cell:
    return Cell(shown(float(pick(known)))) if known else Cell(NOT_KNOWN, why="the host does not say")


def _held(samples: Sequence[Sample]) -> Cell:
    """Share of the samples in which the power cap, heat or the hardware held the clock down."""
    if throttle.shares(samples) is None:
        return Cell(NOT_KNOWN, why="the host does not say", is_number=False)
    known = [(word, throttle.share_of_any(samples, names) or 0.0) for word, names in _HELD.items()]
    named = ", ".join(f"{word} {share(part)}" for word, part in known if part)
    return words(named or "no")


def _gigabits(rate: float) -> str:
    return f"{rate:.2f}"


def _cost(seen: Mapping[str, Any]) -> Cell:
    cost = seen.get("cost") or {}
    if cost.get("cpu_s") is None or not cost.get("seconds"):
        return Cell(NOT_KNOWN, why="the sampler did not say")
    return Cell(share(cost["cpu_s"] / cost["seconds"]))
