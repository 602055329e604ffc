# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a wait and of its failure."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report.not_ready import not_ready, progress_line

NAME = "dgxspark-big-0-r0"
LOADING = {
    "detail": "the engine does not answer yet",
    "engine_stage": "loading weights",
    "percent": 50,
    "line": "Loading safetensors checkpoint shards:  50% Completed | 5/10",
}
OOM = {"id": "cuda-oom", "cause": "the memory is used up", "remedy": "Lower it", "level": "fatal", "line": "x"}
PEER = {"id": "peer-closed", "cause": "another rank went away", "remedy": "Read its log", "level": "fatal", "line": "y"}
SOCKETS = {"id": "nccl-sockets", "cause": "NCCL uses sockets", "remedy": "Set it", "level": "warning", "line": "z"}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (
            LOADING,
            f"spark1: {NAME}: 24 s, the engine does not answer yet; loading weights 50 %: {LOADING['line']}",
        ),
        (
            {**LOADING, "percent": None, "engine_stage": "compiling", "line": "torch.compile took 31.02 s in total"},
            f"spark1: {NAME}: 24 s, the engine does not answer yet; compiling: torch.compile took 31.02 s in total",
        ),
        (
            {**LOADING, "percent": None, "engine_stage": "", "line": ""},
            "spark1: dgxspark-big-0-r0: 24 s, the engine does not answer yet; nothing in the log yet",
        ),
    ],
)
def test_a_line_of_progress(seen: dict[str, Any], expected: str) -> None:
    assert progress_line("spark1", NAME, 24.4, seen) == expected


def test_a_long_line_is_cut() -> None:
    assert progress_line("h", NAME, 1, {**LOADING, "line": "z" * 500}).count("z") == 120


def test_a_failure_with_all_there_is_to_say() -> None:
    seen = {
        "detail": "the engine ended with exit code 1",
        "log": ["first", "y", "last"],
        "diagnosis": [OOM, PEER, SOCKETS],
        "evidence": "/var/lib/dgxspark-serving/dgxspark-big-0-r0/evidence/20261129T100000-ended",
    }
    assert not_ready("spark1", NAME, 42.4, "", seen) == (
        "spark1: dgxspark-big-0-r0 did not become ready: after 42 s the engine ended with exit code 1.\n"
        "Cause: the memory is used up. Lower it. (cuda-oom)\n"
        "  | x\n"
        "Or: another rank went away. Read its log. (peer-closed)\n"
        "Last lines of its log:\n"
        "  | first\n"
        "  | y\n"
        "  | last\n"
        "Evidence is on spark1 in /var/lib/dgxspark-serving/dgxspark-big-0-r0/evidence/20261129T100000-ended\n"
        "Read all of it on spark1 with: docker logs dgxspark-big-0-r0"
    )


def test_a_failure_with_little_to_say() -> None:
    seen = {"detail": "the engine does not answer yet", "log": [], "diagnosis": [], "evidence": ""}
    assert not_ready("spark1", NAME, 17, "until replica_ready_timeout (5 s)", seen) == (
        "spark1: dgxspark-big-0-r0 did not become ready until replica_ready_timeout (5 s):"
        " after 17 s the engine does not answer yet.\n"
        "Last lines of its log:\n"
        "  | (empty)\n"
        "Read all of it on spark1 with: docker logs dgxspark-big-0-r0"
    )


def test_a_warning_is_named_when_there_is_nothing_better() -> None:
    seen = {"detail": "it is slow", "log": ["x"], "diagnosis": [SOCKETS]}
    assert "Cause: NCCL uses sockets. Set it. (nccl-sockets)" in not_ready("h", NAME, 1, "", seen)


def test_no_more_causes_than_can_be_read() -> None:
    seen = {"detail": "x", "log": ["x"], "diagnosis": [OOM] * 9}
    assert not_ready("h", NAME, 1, "", seen).count("(cuda-oom)") == 3
