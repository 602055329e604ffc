# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a look at a host makes of the answers of apt and Docker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import look
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.packages import Offer
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import Container, Missing


class Apt(HostFiles):
    """A host whose apt knows some packages."""

    def __init__(self, known: Sequence[str]) -> None:
        super().__init__(Path("/nowhere"))
        self.known = known
        self.asked: list[list[str]] = []

    def run(self, argv: Sequence[str]) -> Output:
        names = [word for word in argv[1:] if word[0] != "-" and word not in ("install", "remove")]
        self.asked.append(names)
        unknown = [name for name in names if name not in self.known]
        if unknown:
            return Output(100, err="".join(f"E: Unable to locate package {name}\n" for name in unknown))
        return Output(0, "".join(f"Inst {name} (1 Debian:13 [arm64])\n" for name in names))


def test_a_package_that_apt_does_not_know_does_not_keep_the_others_away() -> None:
    apt = Apt(["docker.io", "earlyoom"])
    found = look.offer(apt, Missing(("earlyoom", "docker.io"), ("docker-cli",)))
    assert found == Offer(("earlyoom", "docker.io"), ("docker-cli",))
    assert apt.asked == [["earlyoom", "docker.io", "docker-cli"], ["earlyoom", "docker.io"]]


def test_apt_is_not_asked_for_nothing() -> None:
    apt = Apt([])
    assert look.offer(apt, Missing()) == Offer()
    assert look.strangers(apt, []) == []
    assert apt.asked == []


def test_apt_that_knows_nothing() -> None:
    assert look.offer(Apt([]), Missing(("earlyoom",))) == Offer(unknown=("earlyoom",))


@pytest.mark.parametrize(
    ("host", "labels", "gpu"),
    [
        ({"DeviceRequests": [{"Driver": "nvidia"}]}, {}, True),
        ({"Runtime": "nvidia", "DeviceRequests": None}, {}, True),
        ({"Devices": [{"PathOnHost": "/dev/nvidia0"}]}, {}, True),
        ({}, {"dgxspark.serving.deployment": "main"}, True),
        ({"Runtime": "runc", "Devices": [{"PathOnHost": "/dev/fuse"}]}, None, False),
    ],
)
def test_d08_which_container_has_the_gpu(host: dict[str, Any], labels: dict[str, str] | None, gpu: bool) -> None:
    described = {"Name": "/one", "HostConfig": host, "Config": {"Labels": labels}}
    assert look._container(described) == Container("one", gpu)


def test_a_docker_that_is_not_there_or_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(look, "SOCKET", str(tmp_path / "docker.sock"))
    assert look._docker(active=False) == ([], None)
    assert look._docker(active=True) == (None, None)
