# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each host did over time, to be drawn below the requests that were in flight."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import host_table
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.figures import Figure
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_parts import slug
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import GIB

# A longer run is drawn by the means of equal pieces of it.
MOST_TIMES = 400

Series = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Panel:
    """One of the stacked pictures that share their time."""

    label: str
    series: Series
    from_zero: bool = True
    top: float | None = None


@dataclass(frozen=True)
class Timeline(Figure):
    """Panels over seconds since the first measured round began."""

    panels: tuple[Panel, ...]


def of_hosts(result: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]) -> list[Timeline]:
    """A timeline for each host that has samples.

    :param rounds: with their requests; without them it is not shown what was in flight
    """
    found = []
    for host, seen in sorted(result["snapshots"].items()):
        samples = seen["during"]
        if len(samples) < 2:
            continue
        panels = tuple(panel for panel in _panels(result, rounds, host, samples) if panel.series)
        if panels:
            caption = "Requests in flight to the host's replica, and what the host did."
            found.append(Timeline(f"picture-host-{slug(host)}", host, host, caption, panels))
    return found


def _panels(
    result: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]], host: str, samples: Sequence[Mapping[str, Any]]
) -> list[Panel]:
    start = samples[0]["t"]

    def series(value: Callable[[Mapping[str, Any]], float | None]) -> Series:
        known = [(sample["t"] - start, value(sample)) for sample in samples]
        return thinned([(time, found) for time, found in known if found is not None])

    targets = {target["name"] for target in result["targets"] if host in (target.get("hosts") or [host])}
    flying = in_flight([one for one in rounds if one["target"] in targets])
    rdma = _rates(samples, "rdma", start)
    return [
        Panel("in flight", series(flying) if flying else ()),
        Panel("memory\navailable (GiB)", series(_gib), from_zero=False),
        Panel("GPU (%)", series(lambda sample: (sample.get("gpu") or {}).get("util_pct")), top=105.0),
        Panel("power (W)", series(lambda sample: (sample.get("gpu") or {}).get("power_w"))),
        Panel("RDMA (Gb/s)", rdma) if rdma else Panel("network (Gb/s)", _rates(samples, "net", start)),
    ]


def in_flight(rounds: Sequence[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], float | None] | None:
    """How many requests were under way at a sample's time; None when no request is known."""
    requests = [(one["began"], request) for one in rounds for request in one.get("requests") or []]
    if not requests:
        return None
    begun = sorted(start + request["t_write"] for start, request in requests if request.get("t_write") is not None)
    ended = sorted(
        start + request["t_end"]
        for start, request in requests
        if request.get("t_write") is not None and request.get("t_end") is not None
    )
    return lambda sample: float(bisect.bisect_right(begun, sample["t"]) - bisect.bisect_right(ended, sample["t"]))


def thinned(series: Sequence[tuple[float, float]]) -> Series:
    """The same with no more than :data:`MOST_TIMES` values, each the mean of its piece."""
    step = -(-len(series) // MOST_TIMES) or 1
    pieces = [series[first : first + step] for first in range(0, len(series), step)]
    return tuple(
        (
            round(sum(time for time, _value in piece) / len(piece), 3),
            round(sum(value for _time, value in piece) / len(piece), 4),
        )
        for piece in pieces
    )


def _gib(sample: Mapping[str, Any]) -> float | None:
    size = (sample.get("mem") or {}).get("available")
    return None if size is None else size / GIB


def _rates(samples: Sequence[Mapping[str, Any]], group: str, start: float) -> Series:
    return thinned([(time - start, rate) for time, rate in host_table.rates(samples, group)])
