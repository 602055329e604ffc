# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether Docker answers, to this user, and has room."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import docker
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.docker_info import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, MISSING, Output, Raw

HOST = Path(__file__).parents[4] / "fixtures" / "host"
IDS = [f"docker.{word}" for word in ("engine", "version", "access", "storage", "disk")]
DEV = Want(root=False, user="dev")


def captured(name: str) -> Output:
    return Output(0, (HOST / f"docker-info-26.1{name}.json").read_text(encoding="utf-8"))


def checks(
    output: Output, want: Want | None = None, disk: str = "900000000000 1000000000000", **files: str
) -> list[Check]:
    paths = {"daemon": "/etc/docker/daemon.json", "group": "/etc/group", "status": "/proc/self/status"}
    outputs = {"docker_info": output, "disk": Output(0, disk)}
    raw = Raw(files={paths[name]: text for name, text in files.items()}, outputs=outputs)
    return docker.checks(raw, want or Want())


def test_a_docker_that_answers_passes() -> None:
    found = checks(captured(""))
    assert [check.id for check in found] == IDS
    assert {check.status for check in found} == {"pass"}
    raw = Raw(outputs={"docker_info": captured("")})
    assert docker.facts(raw, Want()) == {"version": "26.1.5+dfsg1", "storage": "overlay2", "root": "/var/lib/docker"}


@pytest.mark.parametrize(
    ("output", "files", "found", "remedy"),
    [
        (captured("-down"), {}, "not running", "systemctl enable --now docker"),
        (captured("-down"), {"daemon": "{,}"}, "not running; /etc/docker/daemon.json is no JSON", "Mend /etc/docker"),
        (Output(MISSING), {}, "no docker command", "prepare"),
        (Output(LATE), {}, "no answer to docker info", "systemctl restart docker"),
        (Output(0, '{"host": {}}'), {}, "podman under the name docker", "podman-docker"),
    ],
)
def test_a_docker_that_does_not_answer_is_one_finding(
    output: Output, files: dict[str, str], found: str, remedy: str
) -> None:
    first, *others = checks(output, **files)
    assert [check.id for check in (first, *others)] == IDS
    assert (first.status, first.found) == ("fail", found)
    assert remedy in first.remedy
    assert {check.status for check in others} == {"skip"}


def test_an_answer_that_is_cut_is_no_fault() -> None:
    assert {check.status for check in checks(Output(0, '{"ServerVer'))} == {"skip"}


@pytest.mark.parametrize(
    ("group", "session", "found", "remedy"),
    [
        ("docker:x:103:dev\n", "Groups:\t1000\n", "dev is in group docker, but this session is older", "Log in again"),
        ("docker:x:103:ops\n", "Groups:\t1000\n", "dev is not in group docker", "usermod -aG docker dev"),
        (
            "docker:x:103:dev\n",
            "Groups:\t103 1000\n",
            "dev is in group docker and is refused all the same",
            "ansible_become",
        ),
        ("users:x:100:\n", "Groups:\t1000\n", "no group docker", "prepare"),
    ],
)
def test_a01_a_session_that_is_older_than_its_groups_is_told_to_log_in_again(
    group: str, session: str, found: str, remedy: str
) -> None:
    checked = checks(captured("-denied"), DEV, group=group, status=session)
    assert [check.id for check in checked] == IDS
    assert [check.status for check in checked] == ["skip", "skip", "fail", "skip", "skip"]
    assert checked[2].found == found
    assert remedy in checked[2].remedy


@pytest.mark.parametrize(
    ("version", "status"),
    [("20.10.24", "pass"), ("29.6.2", "pass"), ("20.10", "pass"), ("19.03.15", "fail"), ("dev", "skip")],
)
def test_versions(version: str, status: str) -> None:
    assert docker.version(Engine(version=version)).status == status


@pytest.mark.parametrize(
    ("driver", "status"), [("overlay2", "pass"), ("overlayfs", "pass"), ("vfs", "warn"), ("", "skip")]
)
def test_storage_drivers(driver: str, status: str) -> None:
    assert docker.storage(Engine(storage=driver)).status == status


@pytest.mark.parametrize(
    ("disk", "status"),
    [
        ("100000000000 4000000000000", "pass"),
        ("99999999999 4000000000000", "warn"),
        ("19999999999 4000000000000", "fail"),
        ("268435456 268435456", "fail"),
        ("", "skip"),
        ("cannot statfs", "skip"),
    ],
)
def test_room_for_an_image(disk: str, status: str) -> None:
    check = checks(captured(""), disk=disk)[4]
    assert check.status == status
    assert ("docker image prune" in check.remedy) is (status in ("warn", "fail"))


def test_what_is_enough_room_can_be_set() -> None:
    want = Want(disk_warn=1, disk_fail=1)
    assert checks(captured(""), want, disk="2000000000 9000000000")[4].status == "pass"
