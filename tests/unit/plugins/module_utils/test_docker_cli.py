# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker's command line, with its answers as Docker 26 gives them."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import LOG_LINES, Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image


class Failed(Exception):
    """Stands for the end of the module."""


class FakeModule:
    """An AnsibleModule that answers from a table of command lines."""

    def __init__(self, answers: dict[tuple[str, ...], tuple[int, str, str]]) -> None:
        self.answers = answers

    def get_bin_path(self, arg: str, required: bool) -> str:
        assert required
        return f"/usr/bin/{arg}"

    def run_command(self, args: list[str]) -> tuple[int, str, str]:
        return self.answers[tuple(args[1:])]

    def fail_json(self, msg: str) -> None:
        raise Failed(msg)


LIST = ("container", "ls", "--all", "--quiet", "--no-trunc")
WEB = {"Name": "/web", "State": {"Status": "running", "ExitCode": 0, "OOMKilled": False}, "Config": {"Labels": {}}}


def docker(answers: dict[tuple[str, ...], tuple[int, str, str]]) -> Docker:
    return Docker(FakeModule(answers))


def test_containers() -> None:
    answers = {LIST: (0, "id1\nid2\n", ""), ("container", "inspect", "id1", "id2"): (0, json.dumps([WEB]), "")}
    assert [container.name for container in docker(answers).containers()] == ["web"]


def test_no_containers() -> None:
    assert docker({LIST: (0, "", "")}).containers() == []


def test_a_container_that_went_away_meanwhile() -> None:
    gone = "Error response from daemon: No such container: id2"
    answers = {LIST: (0, "id1\nid2\n", ""), ("container", "inspect", "id1", "id2"): (1, json.dumps([WEB]), gone)}
    assert [container.name for container in docker(answers).containers()] == ["web"]
    assert docker({("container", "inspect", "x"): (1, "[]\n", "No such container: x")}).container("x") is None


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
            "Add the user to the group docker and log in anew, or set ansible_become for the host.",
        ),
        (
            "Cannot connect to the Docker daemon. Is the docker daemon running?",
            "Start it with: systemctl start docker.",
        ),
    ],
    ids=["A01", "not running"],
)
def test_a_docker_that_does_not_answer(error: str, remedy: str) -> None:
    with pytest.raises(Failed) as caught:
        docker({LIST: (1, "", error)}).containers()
    assert str(caught.value) == f"Docker does not answer: {error}. {remedy}"


def test_log_keeps_the_last_lines_of_both_streams() -> None:
    out = "\n".join(f"out {number}" for number in range(20))
    err = "\n".join(f"err {number}" for number in range(20))
    lines = docker({("container", "logs", "--tail", str(LOG_LINES), "web"): (0, f"{out}\n\n", err)}).log("web")
    assert len(lines) == LOG_LINES
    assert lines[-1] == "err 19"


def test_log_of_more_lines() -> None:
    out = "\n".join(f"line {number}" for number in range(60))
    assert len(docker({("container", "logs", "--tail", "50", "web"): (0, out, "")}).log("web", lines=50)) == 50


def test_image() -> None:
    inspected = [{"Id": "sha256:1111", "RepoDigests": ["acme/vllm@sha256:aaaa"], "Architecture": "arm64"}]
    found = docker({("image", "inspect", "acme/vllm:1"): (0, json.dumps(inspected), "")}).image("acme/vllm:1")
    assert found == Image("sha256:1111", ("acme/vllm@sha256:aaaa",), "arm64")
    missing = (1, "[]\n", "Error response from daemon: No such image: acme/vllm:1")
    assert docker({("image", "inspect", "acme/vllm:1"): missing}).image("acme/vllm:1") is None
