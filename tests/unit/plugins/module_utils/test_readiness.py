# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a replica is ready, and when waiting is in vain."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import readiness
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container


def container(status: str = "running", code: int = 0, oom: bool = False) -> Container:
    return Container("dgxspark-tp1-0-r0", status, code, oom, "tp1", "tp1-0", "http://127.0.0.1:8000")


RUNNING = container()
SEEN = readiness.Observation


@pytest.mark.parametrize(
    ("seen", "state", "stage", "detail"),
    [
        (SEEN(None), "failed", "container", "there is no such container"),
        (SEEN(container("created")), "waiting", "container", "the container is created"),
        (SEEN(container("exited", 0)), "failed", "container", "the engine ended with exit code 0"),
        (
            SEEN(container("exited", 137, oom=True)),
            "failed",
            "container",
            "the engine was killed for lack of memory with exit code 137",
        ),
        (SEEN(RUNNING), "waiting", "start", "the engine does not answer yet"),
        (SEEN(RUNNING, 503), "waiting", "start", "/health answers 503"),
        (SEEN(RUNNING, 200), "waiting", "models", "/v1/models does not answer yet"),
        (SEEN(RUNNING, 200, ["other"]), "failed", "models", "the engine serves other, wanted qwen"),
        (SEEN(RUNNING, 200, []), "failed", "models", "the engine serves no model, wanted qwen"),
        (SEEN(RUNNING, 200, ["qwen"]), "waiting", "generation", "no token was asked for yet"),
        (
            SEEN(RUNNING, 200, ["qwen"], readiness.Generation(error="HTTP 500: InvalidCxxCompiler")),
            "failed",
            "generation",
            "/health answers 200, but one generation failed: HTTP 500: InvalidCxxCompiler",
        ),
        (
            SEEN(RUNNING, 200, ["qwen"], readiness.Generation()),
            "failed",
            "generation",
            "/health answers 200, but one generation gave no token",
        ),
        (
            SEEN(RUNNING, 200, ["a", "qwen"], readiness.Generation(32, 0.5)),
            "ready",
            "generation",
            "generated 32 tokens",
        ),
    ],
)
def test_judge_n10(seen: readiness.Observation, state: str, stage: str, detail: str) -> None:
    assert readiness.judge(seen, "qwen") == readiness.Verdict(state, stage, detail)


def test_speed() -> None:
    assert readiness.Generation(32, 0.5).tokens_per_second == 64
    assert readiness.Generation().tokens_per_second == 0
