# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an engine generates, from its own counters in ``/metrics``. No request is ever sent as a probe."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_RUNNING = (b"vllm:num_requests_running", b"sglang:num_running_reqs")
_WAITING = (b"vllm:num_requests_waiting", b"sglang:num_queue_reqs")
_GENERATED = (b"vllm:generation_tokens_total", b"sglang:generation_tokens_total")
# Counters that move with any token, generated or read; a long prompt moves only some of them for a while.
_TOKENS = (
    *_GENERATED,
    b"vllm:prompt_tokens_total",
    b"vllm:iteration_tokens_total_count",
    b"vllm:iteration_tokens_total_sum",
    b"sglang:prompt_tokens_total",
)
_LINE = re.compile(
    rb"^(" + b"|".join(re.escape(name) for name in (*_RUNNING, *_WAITING, *_TOKENS)) + rb")(?:\{.*\})?[ \t]+([^\s]+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Sample:
    """One look at ``/metrics``, summed over engines of one API.

    :ivar tokens: sum of all token counters; None when there is none, which is no evidence of anything
    :ivar generated: tokens generated since the engine's start; None when not told
    """

    running: int
    waiting: int
    tokens: float | None
    generated: float | None


def parse_metrics(text: bytes) -> Sample | None:
    """Read the answer of ``/metrics``, or None when it does not tell how many requests there are."""
    sums: dict[bytes, float] = {}
    for name, value in _LINE.findall(text):
        try:
            figure = float(value)
        except ValueError:
            continue
        if math.isfinite(figure):
            sums[name] = sums.get(name, 0.0) + figure
    running = _sum(sums, _RUNNING)
    if running is None:
        return None
    return Sample(int(running), int(_sum(sums, _WAITING) or 0), _sum(sums, _TOKENS), _sum(sums, _GENERATED))


def _sum(sums: dict[bytes, float], names: tuple[bytes, ...]) -> float | None:
    found = [sums[name] for name in names if name in sums]
    return sum(found) if found else None


@dataclass(frozen=True)
class Progress:
    """What the samples so far say.

    :ivar at: time of ``sample`` in seconds
    :ivar still_since: since when requests are there and the counters stand still; None when not so
    :ivar rate: tokens per second between the last two samples
    """

    sample: Sample | None = None
    at: float = 0.0
    still_since: float | None = None
    rate: float | None = None

    def hung(self, hung_after: float) -> str:
        """The reason to call the engine hung, or nothing."""
        if self.sample is None or self.still_since is None or self.at - self.still_since < hung_after:
            return ""
        return (
            f"hung: {self.sample.running} requests running and {self.sample.waiting} waiting, "
            f"and no token for {self.at - self.still_since:.0f} s"
        )


def look(progress: Progress, sample: Sample | None, now: float) -> Progress:
    """Take one more sample into account. A look that got no answer forgets what was before: it is no evidence."""
    if sample is None:
        return Progress()
    last = progress.sample
    still_since = None
    busy = sample.running + sample.waiting > 0
    if busy and sample.tokens is not None and last is not None and sample.tokens == last.tokens:
        # The requests may have come just after the last look: then the time counts from this one on.
        was_busy = last.running + last.waiting > 0
        still_since = progress.still_since if progress.still_since is not None else progress.at if was_busy else now
    rate = None
    if last is not None and sample.generated is not None and last.generated is not None and now > progress.at:
        # A counter that went down is of an engine that was restarted.
        rate = max(0.0, sample.generated - last.generated) / (now - progress.at)
    return Progress(sample, now, still_since, rate)
