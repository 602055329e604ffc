# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preflight finds what is planted, on the host where it is, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.faults import FAULTS
from lab.lab import Lab
from tools.ssh_masters import own_control_folder

pytestmark = pytest.mark.engines("double")

CHECKOUT = Path(__file__).parents[2]
FIRST, SECOND = "spark1", "spark2"
#: Memory is the machine's, and other programs of it use it, too.
OF_THE_MACHINE = ["memory.need", "memory.leftover", "memory.pressure"]
#: What each fault is found as, on its host.
FOUND: dict[str, dict[str, str]] = {
    "swap-on": {"memory.swap": "warn", "memory.swap_returns": "warn"},
    "mtu-1500": {"across.mtu": "fail"},
    "link-down": {"network.interface": "fail"},
    "cable-pulled": {"network.interface": "fail"},
    "wrong-subnet": {"network.address": "fail"},
    "port-taken": {"network.ports": "fail"},
    "amd64-image": {"image.architecture": "fail"},
    # The other host has it whole.
    "model-incomplete": {"model.complete": "skip"},
    "docker-stopped": {"docker.engine": "fail"},
    "no-nvidia-toolkit": {"gpu.runtime": "fail"},
    "no-nvidia-runtime": {"gpu.runtime": "fail"},
    "docker-not-restarted": {"gpu.runtime": "fail"},
    "disk-nearly-full": {"docker.disk": "fail"},
    "sysctl-overridden": {"kernel.sysctl": "warn", "kernel.sysctl_boot": "warn"},
    "gpu-lost": {"gpu.driver": "fail"},
    "gpu-slow": {"gpu.clocks": "warn"},
    "gpu-in-use": {"gpu.processes": "warn"},
    "hostname-loopback": {"machine.hostname": "warn"},
}
#: Those of the first host and those of the second, all at a time: none must hide another one of its host, or be seen
#: on the other one.
ROUNDS = (
    (("swap-on", "gpu-slow"), ("gpu-lost", "model-incomplete")),
    # The API port is that of rank 0; the first restarts Docker, which ends what takes the port.
    (("no-nvidia-toolkit", "port-taken"), ("mtu-1500", "gpu-in-use")),
    (("link-down", "docker-not-restarted"), ("hostname-loopback", "no-nvidia-runtime")),
    (("docker-stopped",), ("cable-pulled", "sysctl-overridden")),
    (("wrong-subnet",), ("amd64-image", "disk-nearly-full")),
)


class Controller:
    """A user at the controller, whose two hosts are to serve one replica."""

    def __init__(self, inventory: Path, environment: Mapping[str, str], answers: Path) -> None:
        self.inventory = inventory
        self.environment = {**os.environ, **environment, "ANSIBLE_NOCOLOR": "1"}
        self.answers = answers

    def play(self, playbook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        argv = ["ansible-playbook", "-i", str(self.inventory), playbook, *arguments]
        return subprocess.run(argv, cwd=CHECKOUT, env=self.environment, capture_output=True, text=True, check=False)

    def findings(self) -> tuple[int, dict[tuple[str, str], dict[str, str]]]:
        """The exit code of a preflight, and what it did not find well or would mend, by host and check."""
        self.answers.unlink(missing_ok=True)
        extra = {"tensor_parallel_size": 2, "preflight_file": str(self.answers), "preflight_ignore": OF_THE_MACHINE}
        done = self.play("preflight.yml", "--extra-vars", json.dumps(extra))
        assert self.answers.exists(), done.stdout + done.stderr
        answers = json.loads(self.answers.read_text("utf-8"))
        everything = {**answers["hosts"], "all": answers["all"]}
        found = {
            (host, check["id"]): check
            for host, checks in everything.items()
            for check in checks
            if check["status"] in ("warn", "fail") or "; the deployment copies it from" in check["found"]
        }
        return done.returncode, found


@pytest.fixture(scope="module")
def controller(lab: Lab, inventory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    """Hosts that the playbook prepare has made ready, and that stay so: these tests are the last of a lab.

    That the preparation can be undone is what the Molecule scenario `host` shows.
    """
    with own_control_folder() as environment:
        made = Controller(inventory, environment, tmp_path_factory.mktemp("preflight") / "answers.json")
        prepared = made.play("prepare.yml")
        assert prepared.returncode == 0, prepared.stdout
        yield made


Planted = Mapping[str, Sequence[str]]


def at_once(hosts: Planted, work: Callable[[str, str], object]) -> None:
    """Do something with the faults of each host in their order, on both hosts at the same time."""

    def of_host(host: str) -> None:
        for fault in hosts[host]:
            work(host, fault)

    with ThreadPoolExecutor(len(hosts)) as pool:
        list(pool.map(of_host, hosts))


def test_every_fault_of_the_lab_is_looked_for() -> None:
    assert sorted(fault for pair in ROUNDS for faults in pair for fault in faults) == sorted(FAULTS) == sorted(FOUND)


def test_prepared_hosts_are_well(controller: Controller) -> None:
    assert controller.findings() == (0, {})


def name_of(faults: tuple[Sequence[str], Sequence[str]]) -> str:
    return " | ".join(" and ".join(of_host) for of_host in faults)


@pytest.mark.parametrize("faults", ROUNDS, ids=name_of)
def test_faults_are_found_where_they_are(
    controller: Controller, lab: Lab, faults: tuple[Sequence[str], Sequence[str]]
) -> None:
    hosts = dict(zip((FIRST, SECOND), faults, strict=True))
    expected = {
        (host, name): status
        for host, planted in hosts.items()
        for fault in planted
        for name, status in FOUND[fault].items()
    }
    try:
        at_once(hosts, lab.plant)
        code, found = controller.findings()
    finally:
        at_once({host: planted[::-1] for host, planted in hosts.items()}, lab.mend)
    assert {key: check["status"] for key, check in found.items()} == expected, found
    assert all(check["remedy"] for check in found.values() if check["status"] != "skip"), found
    assert (code == 0) == ("fail" not in expected.values())


def test_mended_hosts_are_well_again(controller: Controller) -> None:
    assert controller.findings() == (0, {})
