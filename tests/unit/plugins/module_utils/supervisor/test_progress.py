# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of an engine, from its metrics."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.progress import (
    Progress,
    Sample,
    look,
    parse_metrics,
)

VLLM = b"""\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="qwen"} 2.0
vllm:num_requests_running{engine="1",model_name="qwen"} 1.0
vllm:num_requests_waiting{engine="0",model_name="qwen"} 3.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 99.0
vllm:prompt_tokens_total{engine="0",model_name="a {strange} name"} 1000.0
vllm:prompt_tokens_created{engine="0",model_name="qwen"} 1.7e+09
vllm:generation_tokens_total{engine="0",model_name="qwen"} 1.5e+02
vllm:generation_tokens_total{engine="1",model_name="qwen"} 50.0
vllm:iteration_tokens_total_bucket{engine="0",le="1.0"} 7.0
vllm:iteration_tokens_total_sum{engine="0"} 1200.0
vllm:iteration_tokens_total_count{engine="0"} 20.0
"""
SGLANG = b"""\
sglang:num_running_reqs{model_name="qwen"} 1.0
sglang:num_queue_reqs{model_name="qwen"} 0.0
sglang:prompt_tokens_total{model_name="qwen"} 8.0
sglang:generation_tokens_total{model_name="qwen"} 7557.0
"""


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        (VLLM, Sample(running=3, waiting=3, tokens=2420.0, generated=200.0)),
        (SGLANG, Sample(running=1, waiting=0, tokens=7565.0, generated=7557.0)),
        (b"vllm:num_requests_running 0\n", Sample(running=0, waiting=0, tokens=None, generated=None)),
        (b"", None),
        (b"<html>not here</html>", None),
        (b"process_cpu_seconds_total 12\n", None),
        (b"vllm:num_requests_running{} lots\n", None),
        (b"vllm:num_requests_running{} NaN\n", None),
    ],
)
def test_metrics_are_read(text: bytes, sample: Sample | None) -> None:
    assert parse_metrics(text) == sample


def after(samples: Sequence[Sample | None]) -> Progress:
    """What is known after samples that are 10 s apart."""
    progress = Progress()
    for number, sample in enumerate(samples):
        progress = look(progress, sample, 100.0 + 10 * number)
    return progress


def busy(tokens: float | None, running: int = 1, waiting: int = 0) -> Sample:
    return Sample(running, waiting, tokens, tokens)


@pytest.mark.parametrize(
    ("samples", "seconds"),
    [
        # Requests and no token.
        ([busy(5)] * 13, 120),
        ([busy(5, running=0, waiting=2)] * 13, 120),
        ([busy(5)] * 12, None),
        # Tokens move.
        ([busy(number) for number in range(20)], None),
        ([busy(5)] * 8 + [busy(6)] * 8, None),
        # Nobody asks.
        ([busy(5, running=0)] * 20, None),
        # The first request came just now.
        ([busy(5, running=0)] * 13 + [busy(5)] * 13, 120),
        ([busy(5, running=0)] * 20 + [busy(5)] * 12, None),
        # Absent metrics are no evidence, and time without them does not count.
        ([busy(5)] * 8 + [None] + [busy(5)] * 8, None),
        ([busy(5)] * 13 + [None], None),
        ([None] * 20, None),
        ([busy(None)] * 20, None),
    ],
)
def test_hung_is_requests_without_tokens_for_long_enough(samples: Sequence[Sample | None], seconds: int | None) -> None:
    said = after(samples).hung(120)
    assert (f"no token for {seconds} s" in said) if seconds else said == ""


def test_n01_busy_for_120_s_without_a_token() -> None:
    assert after([busy(4711)] * 13).hung(120) == "hung: 1 requests running and 0 waiting, and no token for 120 s"


@pytest.mark.parametrize(
    ("samples", "rate"),
    [
        ([busy(100)], None),
        ([busy(100), busy(350)], 25.0),
        ([busy(100), None, busy(350)], None),
        ([busy(100), busy(10)], 0.0),
        ([busy(100), busy(None)], None),
    ],
)
def test_tokens_per_second(samples: Sequence[Sample | None], rate: float | None) -> None:
    assert after(samples).rate == rate
