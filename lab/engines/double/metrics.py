# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics that vLLM exposes and that supervisors and dashboards read, in the Prometheus text form."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
FINISHED = ("stop", "length", "abort", "error")


class Histogram:
    """Counts of observations (seconds) per upper bound."""

    def __init__(self, bounds: tuple[float, ...] = SECONDS) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count one observation."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def samples(self, name: str, labels: str) -> Iterator[str]:
        """Yield the lines of this histogram."""
        total = 0
        for bound, count in zip([*map(str, self._bounds), "+Inf"], self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels},le="{bound}"}} {total}.0'
        yield f"{name}_count{{{labels}}} {total}.0"
        yield f"{name}_sum{{{labels}}} {self._sum}"


class Metrics:
    """Counters and gauges of one engine."""

    def __init__(self, model_name: str) -> None:
        self._labels = f'engine="0",model_name="{model_name}"'
        self.running = 0
        self.waiting = 0
        self.prompt_tokens = 0
        self.generation_tokens = 0
        self.finished = dict.fromkeys(FINISHED, 0)
        self.queue = Histogram()
        self.first_token = Histogram()
        self.between_tokens = Histogram()
        self.whole_request = Histogram()

    def text(self) -> str:
        """Return the page of /metrics."""
        labels = self._labels
        lines = []
        for kind, name, value in (
            ("gauge", "num_requests_running", self.running),
            ("gauge", "num_requests_waiting", self.waiting),
            ("gauge", "kv_cache_usage_perc", 0),
            ("counter", "num_preemptions_total", 0),
            # It keeps no prefix.
            ("counter", "prefix_cache_queries_total", self.prompt_tokens),
            ("counter", "prefix_cache_hits_total", 0),
            ("counter", "prompt_tokens_total", self.prompt_tokens),
            ("counter", "generation_tokens_total", self.generation_tokens),
        ):
            lines += [f"# TYPE vllm:{name} {kind}", f"vllm:{name}{{{labels}}} {value}.0"]
        lines.append("# TYPE vllm:request_success_total counter")
        for reason, count in self.finished.items():
            lines.append(f'vllm:request_success_total{{{labels},finished_reason="{reason}"}} {count}.0')
        for name, histogram in (
            ("request_queue_time_seconds", self.queue),
            ("time_to_first_token_seconds", self.first_token),
            ("inter_token_latency_seconds", self.between_tokens),
            ("e2e_request_latency_seconds", self.whole_request),
        ):
            lines += [f"# TYPE vllm:{name} histogram", *histogram.samples(f"vllm:{name}", labels)]
        return "\n".join(lines) + "\n"
