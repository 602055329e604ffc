# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook fabric_test on two real hosts: iperf3 over both links, a slow twin, other kernel settings, refusals."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.lab import Lab
from tools.ssh_masters import own_control_folder

pytestmark = pytest.mark.engines("double")

CHECKOUT = Path(__file__).parents[2]
HOSTS = ("spark1", "spark2")
ONE, TWO = "enp1s0f0np0", "enP2p1s0f0np0"
SETTINGS = ("net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
IMAGE = "lab/engine-double:1"


class Operator:
    """A user at the controller."""

    def __init__(self, lab: Lab, inventory: Path, environment: dict[str, str], folder: Path) -> None:
        self.lab = lab
        self.inventory = inventory
        self.environment = {**os.environ, **environment, "ANSIBLE_NOCOLOR": "1"}
        self.file = folder / "fabric.json"

    def play(self, *arguments: str) -> tuple[int, str]:
        """The exit code, and the output with its line breaks folded into blanks."""
        short = ["-e", "fabric_test_seconds=1", "-e", f"fabric_test_file={self.file}"]
        done = subprocess.run(
            ["ansible-playbook", "-i", str(self.inventory), "fabric-test.yml", *short, *arguments],
            cwd=CHECKOUT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def pair(self) -> dict[str, Any]:
        """The one pair of the last run."""
        (pair,) = json.loads(self.file.read_text(encoding="utf-8"))["pairs"]
        return pair

    def root(self, host: str, *argv: str) -> str:
        code, out, err = self.lab.run(host, argv, user="root")
        assert code == 0, err
        return out

    def settings(self) -> list[str]:
        return [self.root(host, "sysctl", *SETTINGS) for host in HOSTS]

    def left(self) -> str:
        """What a test has left on the hosts: processes, files, containers."""
        look = (
            "pgrep -a 'iperf3|ib_write' || :; ls -d /run/dgxspark-serving/fabric-test* 2>/dev/null || :; "
            "docker ps --all --quiet --filter name=dgxspark-fabric-test"
        )
        return "".join(self.root(host, "sh", "-c", look) for host in HOSTS).strip()


@pytest.fixture(scope="module")
def operator(lab: Lab, inventory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    with own_control_folder() as environment:
        yield Operator(lab, inventory, environment, tmp_path_factory.mktemp("fabric"))


def figures(pair: dict[str, Any], settings: str = "") -> dict[str, float]:
    """Gb/s of TCP by what it went over."""
    return {
        "+".join(one["over"]): one["value"]
        for one in pair["results"]
        if one["kind"] == "tcp" and one["settings"] == settings
    }


def test_both_twins_alone_and_at_once(operator: Operator) -> None:
    code, text = operator.play()
    assert code == 0, text
    pair = operator.pair()
    assert pair["name"] == "spark1 - spark2"
    found = figures(pair)
    assert set(found) == {ONE, TWO, f"{ONE}+{TWO}"}
    assert all(value > 0 for value in found.values())
    # Each twin's traffic left by that twin.
    for one in pair["results"][:2]:
        (over,) = one["over"]
        assert max(one["moved"], key=lambda name: one["moved"][name]) == over
    others = {one["kind"]: one["skipped"] for one in pair["results"] if one["kind"] != "tcp"}
    assert others == {
        "rdma_bandwidth": "spark1 has no RDMA device",
        "rdma_latency": "spark1 has no RDMA device",
        "all_gather": "the image has no torch",
    }
    assert pair["verdict"]["word"] == "not judged"
    assert f"not judged: no QSFP link of a DGX Spark: {ONE} of spark1 says 10000 Mb/s." in text
    assert operator.left() == ""


def test_a_slow_twin_is_seen(operator: Operator) -> None:
    operator.lab.slow("spark2", TWO, rate="200mbit")
    try:
        code, text = operator.play("-e", "fabric_test_all_gather=false")
    finally:
        operator.lab.restore("spark2", TWO)
    assert code == 0, text
    found = figures(operator.pair())
    assert found[TWO] < 0.4 < found[ONE]
    (note,) = operator.pair()["verdict"]["notes"]
    assert note.startswith(f"{TWO} moves 0.")


def test_other_kernel_settings_are_tried_and_put_back(operator: Operator) -> None:
    before = operator.settings()
    operator.lab.slow("spark2", TWO, rate="200mbit", loss="1%")
    try:
        arguments = ("-e", "fabric_test_tcp_proof=true", "-e", "fabric_test_all_gather=false")
        code, text = operator.play(*arguments)
    finally:
        operator.lab.restore("spark2", TWO)
    assert code == 0, text
    tried = [one for one in operator.pair()["results"] if one["settings"] and one["over"] == [TWO]]
    assert [(one["settings"], one["congestion"]) for one in tried] == [
        ("settings before prepare", "reno"),
        ("settings of prepare", "bbr"),
    ]
    assert all(one["value"] > 0 for one in tried)
    assert tried[0]["retransmits"] > 0, "packets were lost, so some must have been sent again"
    assert operator.settings() == before
    assert operator.left() == ""


def test_a_cable_that_is_pulled_is_said(operator: Operator) -> None:
    operator.lab.cut("spark2", TWO)
    try:
        code, text = operator.play("-e", "fabric_test_all_gather=false")
    finally:
        operator.lab.restore("spark2", TWO)
    assert code != 0, text
    assert f"spark1 - spark2: link down. {TWO} of spark2 is not up" in text
    skipped = {"+".join(one["over"]): one["skipped"] for one in operator.pair()["results"] if one["kind"] == "tcp"}
    assert skipped[ONE] == ""
    assert skipped[TWO].startswith(f"{TWO} of spark")


def test_running_engines_are_not_disturbed(operator: Operator) -> None:
    label = "dgxspark.serving.deployment=chat"
    start = ("docker", "run", "--detach", "--name", "busy", "--label", label, "--entrypoint", "sleep", IMAGE, "600")
    operator.root("spark1", *start)
    try:
        code, text = operator.play()
    finally:
        operator.root("spark1", "docker", "rm", "--force", "busy")
    assert code != 0
    assert "Engines run here, which the test would slow down: busy on spark1." in text


def test_check_mode_measures_nothing(operator: Operator) -> None:
    code, text = operator.play("--check")
    assert code == 0, text
    assert "Gb/s" not in text
