# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What engines count of themselves, from the text of their /metrics. Pure.

Counters are read before and after a round, and their growth is the server's own account of it. Gauges say something
only while there is load, and a look then costs the engine a pause that users feel; so they are read in warm-up rounds
alone, which nothing is concluded from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Sample line: name, labels that may hold anything in quotes, value, and perhaps a time.
_SAMPLE = re.compile(r'([A-Za-z_:][\w:]*)(?:\{(?:[^"}]|"(?:\\.|[^"\\])*")*\})?\s+(\S+)')

# Our names of growing counters, by the engine's names; the end "_total" is there or not.
COUNTERS: dict[str, tuple[str, ...]] = {
    "prefix_queries": ("vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"),
    "prefix_hits": ("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"),
    "spec_drafted": ("vllm:spec_decode_num_draft_tokens",),
    "spec_accepted": ("vllm:spec_decode_num_accepted_tokens",),
    "preemptions": ("vllm:num_preemptions",),
    "prompt_tokens": ("vllm:prompt_tokens",),
    "generation_tokens": ("vllm:generation_tokens",),
}
# Mean milliseconds from histograms of seconds.
MEANS: dict[str, str] = {
    "ttft_ms_mean": "vllm:time_to_first_token_seconds",
    "queue_ms_mean": "vllm:request_queue_time_seconds",
}
GAUGES: dict[str, tuple[str, ...]] = {
    "kv_usage_max": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    "waiting_max": ("vllm:num_requests_waiting",),
    "running_max": ("vllm:num_requests_running",),
}
# A share, of which the highest counts where others are summed.
SHARES = ("kv_usage_max",)

Samples = Mapping[str, Sequence[float]]


def samples(text: str) -> dict[str, list[float]]:
    """All samples by name without "_total", whatever their labels; what is no number is left out."""
    found: dict[str, list[float]] = {}
    for line in text.split("\n"):
        match = _SAMPLE.match(line)
        if match is None:
            continue
        try:
            value = float(match[2])
        except ValueError:
            continue
        if math.isfinite(value):
            found.setdefault(match[1].removesuffix("_total"), []).append(value)
    return found


def _sum(found: Samples, names: Iterable[str]) -> float | None:
    """The sum over labels under the first name that is there."""
    return next((math.fsum(found[name]) for name in names if name in found), None)


def _grown(before: Samples, after: Samples, names: Iterable[str]) -> float | None:
    """How much a counter grew; None when it is not there or began anew, as after a restart."""
    first, last = _sum(before, names), _sum(after, names)
    # Some engines show a counter only when it has counted.
    if last is None:
        return None
    growth = last - (first or 0.0)
    return growth if growth >= 0 else None


def server(
    looks: Sequence[tuple[Samples | None, Samples | None]], during: Sequence[Mapping[str, float]] = ()
) -> dict[str, float | None] | None:
    """What the engines counted in a round, summed over them.

    :param looks: for each engine its samples before and after; None for a look that failed
    :param during: what :func:`gauges` gave while there was load
    :returns: None when no engine could be read; a value is None unless all engines tell it
    """
    known = [(before, after) for before, after in looks if before is not None and after is not None]
    if not known or len(known) < len(looks):
        return None
    result: dict[str, float | None] = {
        name: _total([_grown(*look, names) for look in known]) for name, names in COUNTERS.items()
    }
    for name in GAUGES:
        result[name] = max((seen[name] for seen in during if name in seen), default=None)
    for name, histogram in MEANS.items():
        total = _total([_grown(*look, [f"{histogram}_sum"]) for look in known])
        count = _total([_grown(*look, [f"{histogram}_count"]) for look in known])
        result[name] = round(1000 * total / count, 3) if total is not None and count else None
    return result


def foreign_tokens(generated: float | None, records: Iterable[Mapping[str, Any]]) -> int | None:
    """Tokens that the engines made in a round for somebody else, so far as both sides know what was made.

    :param generated: ``generation_tokens`` of the round
    :param records: all requests of the round; one that failed leaves open how much was made for it
    """
    own = [None if one["error"] else one["tokens"]["completion"] for one in records]
    if generated is None or None in own:
        return None
    return max(0, round(generated) - sum(own))


def gauges(looks: Iterable[Samples | None]) -> dict[str, float]:
    """What the engines are at right now; a gauge that is not there is left out."""
    found: dict[str, list[float]] = {}
    for look in looks:
        for name, names in GAUGES.items():
            values = next((look[one] for one in names if one in look), []) if look else []
            found.setdefault(name, []).extend(values)
    return {name: max(values) if name in SHARES else math.fsum(values) for name, values in found.items() if values}


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None
