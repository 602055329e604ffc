# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ping, and ip after it, print."""

from __future__ import annotations

import subprocess

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import ping
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.ping import Reach
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import captured


@pytest.mark.parametrize(
    ("capture", "reach"),
    [
        ("ping-answered.txt", Reach(True, True, True)),
        ("ping-small-only.txt", Reach(False, True, True)),
        ("ping-silent.txt", Reach(known=True)),
        ("ping-nobody.txt", Reach()),
    ],
)
def test_captured(capture: str, reach: Reach) -> None:
    assert ping.read(Output(0, captured(capture)), "enp1s0f0np0", "10.100.0.2", 9000) == reach


def test_p08_the_neighbour_may_leave_out_its_interface() -> None:
    text = "PING 10.100.0.2\n\n" + '[{"lladdr":"02:00:00:00:00:12","state":["STALE"]}]\n'
    assert ping.read(Output(0, text), "enp1s0f0np0", "10.100.0.2", 9000).known


def test_nothing_could_be_sent() -> None:
    output = Output(0, "[]\n", "ping: connect: Network is unreachable\nping: connect: Network is unreachable\n")
    assert ping.read(output, "enp1s0f0np0", "10.100.0.2", 9000) == Reach(
        problem="ping: connect: Network is unreachable"
    )
    assert ping.read(Output(127), "enp1s0f0np0", "10.100.0.2", 9000).problem == "no answer from ping"


@pytest.mark.parametrize(("address", "size"), [("192.0.2.12", "8972"), ("2001:db8::12", "8952")])
def test_the_packet_has_the_size_of_the_mtu(address: str, size: str) -> None:
    assert ping.command("enp1s0f0np0", address, 9000)[-3:] == ("enp1s0f0np0", size, address)


def test_one_packet_to_a_healthy_host_and_the_rest_only_in_need() -> None:
    """The script is run with programs that say what they were called with."""
    command = list(ping.command("enp1s0f0np0", "192.0.2.12", 9000))
    for answers, expected in (("true", 1), ("false", 3)):
        programs = f'ping() {{ echo "ping $*"; {answers}; }}; ip() {{ echo "ip $*"; }}; '
        command[2] = programs + ping.command("enp1s0f0np0", "192.0.2.12", 9000)[2]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        lines = done.stdout.splitlines()
        assert len(lines) == expected
        assert lines[0] == "ping -n -c 1 -w 2 -i 0.5 -I enp1s0f0np0 -M do -s 8972 192.0.2.12"
    assert lines[1:] == [
        "ping -n -c 1 -w 2 -i 0.5 -I enp1s0f0np0 -s 56 192.0.2.12",
        "ip -json neigh show to 192.0.2.12 dev enp1s0f0np0",
    ]
