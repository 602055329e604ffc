# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks on what a rank brings to a host."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import planned
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Problem

IMAGE = "acme/vllm:x"


def test_problems_become_failed_checks() -> None:
    problem = Problem("port", "port 8000 taken by python3 (process 42)", "0.0.0.0:8000 free for the API", "Stop it")
    (found,) = planned.from_problems("network.ports", [problem], "free")
    assert (found.status, found.found, found.remedy) == ("fail", problem.found, "Stop it")


@pytest.mark.parametrize(("problems", "status"), [([], "pass"), (None, "skip")])
def test_no_problem(problems: list[Problem] | None, status: str) -> None:
    assert [check.status for check in planned.from_problems("docker.names", problems, "free")] == [status]


def test_d01_another_architecture_fails_before_the_start() -> None:
    present, architecture = planned.image(IMAGE, {"architecture": "amd64"}, "arm64")
    assert present.status == "pass"
    assert (architecture.status, architecture.wanted) == ("fail", "arm64")
    assert f"docker image rm {IMAGE}" in architecture.remedy


@pytest.mark.parametrize(
    ("image", "found", "statuses"),
    [
        (IMAGE, {"architecture": "arm64"}, ["pass", "pass"]),
        (IMAGE, None, ["skip", "skip"]),
        ("", None, ["skip", "skip"]),
    ],
)
def test_image(image: str, found: dict[str, str] | None, statuses: list[str]) -> None:
    assert [check.status for check in planned.image(image, found, "arm64")] == statuses


FOUND: dict[str, Any] = {
    "model": "org/name", "root": "/hub", "path": "/hub/x", "problems": [], "notes": [], "leftovers": {"bytes": 0}
}  # fmt: skip


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [
        (None, "skip", ["nothing is planned"]),
        (FOUND, "pass", ["/hub/x"]),
        (
            {**FOUND, "path": "", "problems": ["no folder", "no room"]},
            "fail",
            ["org/name in /hub", "no folder; no room"],
        ),
    ],
)
def test_model(found: dict[str, Any] | None, status: str, words: list[str]) -> None:
    (check,) = planned.model(found)
    assert check.status == status
    assert all(word in check.found for word in words)


def test_m02_what_is_no_fault_is_told_in_detail() -> None:
    left = {"notes": ["nvidia cannot write blobs, which root owns"], "leftovers": {"bytes": 12 * 10**9}}
    (check,) = planned.model({**FOUND, **left})
    assert check.detail == (
        "nvidia cannot write blobs, which root owns; 12.0 GB that no model needs: model_prune=true removes them"
    )
