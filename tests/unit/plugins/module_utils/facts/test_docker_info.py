# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What docker info says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import docker_info
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.docker_info import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, MISSING, Output, Raw

HOST = Path(__file__).parents[4] / "fixtures" / "host"


def engine(code: int, out: str = "", err: str = "") -> Engine:
    return docker_info.engine(Raw(outputs={docker_info.INFO: Output(code, out, err)}))


def captured(name: str) -> str:
    return (HOST / f"docker-info-26.1{name}.json").read_text(encoding="utf-8")


def test_an_engine_that_answers() -> None:
    runtimes = {"io.containerd.runc.v2": "runc", "nvidia": "/usr/bin/nvidia-container-runtime", "runc": "runc"}
    wanted = Engine(version="26.1.5+dfsg1", root="/var/lib/docker", storage="overlay2", runtimes=runtimes)
    assert engine(0, captured("")) == wanted
    raw = Raw(outputs={docker_info.INFO: Output(0, captured(""))})
    assert docker_info.root_dir(raw) == "/var/lib/docker"
    assert docker_info.root_dir(Raw()) == ""


@pytest.mark.parametrize(
    ("found", "trouble"),
    [
        (engine(0, captured("-down")), docker_info.DOWN),
        (engine(1, captured("-down")), docker_info.DOWN),
        (engine(1, err="failed to connect to the docker API at unix:///var/run/docker.sock"), docker_info.DOWN),
        (engine(1), docker_info.DOWN),
        (engine(0, captured("-denied")), docker_info.DENIED),
        (engine(1, err="permission denied while trying to connect to the docker API"), docker_info.DENIED),
        (engine(MISSING), docker_info.NOT_INSTALLED),
        (engine(LATE, err="no answer in 20 s"), docker_info.NO_ANSWER),
        (engine(0, '{"host": {"arch": "arm64"}, "version": {"Version": "4.9.3"}}'), docker_info.NOT_DOCKER),
        (engine(0, captured("")[:400]), docker_info.UNREADABLE),
        (engine(0, "[]"), docker_info.UNREADABLE),
    ],
)
def test_why_docker_does_not_answer(found: Engine, trouble: str) -> None:
    assert found.trouble == trouble


def test_every_key_is_optional_and_of_any_type() -> None:
    text = '{"ServerVersion": "29.6.2", "Runtimes": null, "DiscoveredDevices": [1, {"Source": "cdi"}], "Driver": 3}'
    assert engine(0, text) == Engine(version="29.6.2", cdi_devices=("",))


@pytest.mark.parametrize(
    ("text", "runtime", "broken"),
    [
        ('{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}', True, False),
        ('{"runtimes": []}', False, False),
        ("{}", False, False),
        ("", False, False),
        ('{"runtimes": {"nvidia": {}},}', False, True),
        ("[]", False, True),
    ],
)
def test_daemon_json(text: str, runtime: bool, broken: bool) -> None:
    assert docker_info.has_runtime(text, "nvidia") is runtime
    assert docker_info.is_broken(text) is broken


@pytest.mark.parametrize(
    ("links", "root", "snap"),
    [
        (["/snap/bin/docker"], "", True),
        (["/usr/bin/docker"], "/var/snap/docker/common/var-lib-docker", True),
        (["/usr/bin/docker", "/snap/bin/docker"], "/var/lib/docker", False),
        (["/usr/bin/docker"], "", False),
    ],
)
def test_d07_docker_from_snap_is_known(links: list[str], root: str, snap: bool) -> None:
    assert docker_info.from_snap(Raw(links=dict.fromkeys(links, "")), Engine(root=root)) is snap


def test_a01_members_of_a_group_and_groups_of_the_session() -> None:
    text = "root:x:0:\ndocker:x:103:dev,ops\nbroken\n"
    assert docker_info.members(text, "docker") == (103, ["dev", "ops"])
    assert docker_info.members(text, "video") == (None, [])
    assert docker_info.session_groups("Name:\tpython3\nGroups:\t4 27 103 1000 \nNStgid:\t1\n") == [4, 27, 103, 1000]
    assert docker_info.session_groups("Groups:\n") == []
