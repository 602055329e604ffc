# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one request tells: whether it counts, its times from the schedule, and when its tokens came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]

# A request that takes its turn late waits all the same: in open loads these are counted from the schedule.
FROM_THE_SEND = ("ttfr_ms", "ttft_ms", "ttfo_ms", "e2el_ms")


def measured(records: Sequence[Record]) -> list[Record]:
    """Those that belong to the measurement."""
    return [record for record in records if record["measured"]]


def succeeded(record: Record) -> bool:
    """Whether it may enter figures of time; what failed never does."""
    return record["error"] is None


def lag_ms(record: Record) -> float | None:
    """How late it was sent; None when it had no time to be sent at."""
    if record["t_sched"] is None:
        return None
    return float((record["t_write"] - record["t_sched"]) * 1000)


def time_ms(record: Record, metric: str) -> float | None:
    """A time of the request; from its schedule when it has one, else from the send."""
    value: float | None = record[metric]
    if value is None or metric not in FROM_THE_SEND:
        return value
    return value + (lag_ms(record) or 0.0)


def completion_tokens(record: Record) -> int | None:
    """As the server counted them; chunks are never taken for tokens (field fault B12)."""
    count: int | None = record["tokens"]["completion"]
    return count


def ended(record: Record) -> float:
    """When its last token came; when it ended, where no token came by itself."""
    last: float | None = record["t_last"]
    return float(record["t_end"]) if last is None else last


def per_chunk(record: Record) -> float | None:
    """Tokens for each chunk that held any."""
    tokens = completion_tokens(record)
    return tokens / record["chunks"] if tokens is not None and record["chunks"] else None


def tokens_within(record: Record, start: float, end: float) -> float | None:
    """Tokens that came in a part of the round, its tokens spread evenly over its chunks; None when not counted."""
    tokens = completion_tokens(record)
    if tokens is None:
        return None
    times = _chunk_times(record)
    inside = sum(start <= time <= end for time in times)
    return tokens * inside / len(times)


def _chunk_times(record: Record) -> list[float]:
    time = record["t_first"]
    if time is None:
        return [ended(record)]
    times = [time]
    for gap in record["gaps_ms"]:
        time += gap / 1000
        times.append(time)
    return times
