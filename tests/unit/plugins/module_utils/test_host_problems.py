# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What on a host keeps a rank from working."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import host_problems
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Owner
from ansible_collections.dgxspark.serving.plugins.module_utils.ports import Listener
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB, Memory

API = {"port": 8000, "address": "0.0.0.0", "use": "API"}
MASTER = {"port": 29500, "address": "192.0.2.11", "use": "master port"}
OLD_RUN = [Listener(ipaddress.ip_address("0.0.0.0"), 29500, 33), Listener(ipaddress.ip_address("::"), 29500, 34)]
MINE, THEIRS = "ab" * 32, "cd" * 32
NAMES = {MINE: "dgxspark-big-0-r0", THEIRS: "web"}


def ports(
    wanted: list[dict[str, Any]], owners: dict[int, Owner], our_ports: tuple[int, ...] = ()
) -> list[host_problems.Problem]:
    return host_problems.ports(wanted, OLD_RUN, owners, NAMES, {MINE: NAMES[MINE]}, our_ports)


@pytest.mark.parametrize(
    ("owners", "found"),
    [
        ({33: Owner(4242, "python3")}, "port 29500 taken by python3 (process 4242)"),
        ({33: Owner(4242, "python3", THEIRS)}, "port 29500 taken by python3 (process 4242) in container web"),
        (
            {33: Owner(4242, "python3", "e" * 64)},
            f"port 29500 taken by python3 (process 4242) in container {'e' * 12}",
        ),
        ({}, "port 29500 taken by a process (run with become to see which)"),
    ],
)
def test_n08_a_port_of_an_old_run_names_who_holds_it(owners: dict[int, Owner], found: str) -> None:
    [problem] = ports([API, MASTER], owners)
    assert problem.found == found
    assert problem.wanted == "192.0.2.11:29500 free for the master port"


def test_n08_rank_1_does_not_need_the_master_port() -> None:
    assert ports([], {33: Owner(4242, "python3")}) == []


@pytest.mark.parametrize(("owners", "our_ports"), [({33: Owner(7, "vllm", MINE)}, ()), ({}, (29500,))])
def test_n08_our_own_running_rank_is_no_problem(owners: dict[int, Owner], our_ports: tuple[int, ...]) -> None:
    assert ports([MASTER], owners, our_ports) == []


@pytest.mark.parametrize(("unit", "problems"), [("dgxspark-replica@a.service", 0), ("nginx.service", 1), ("", 1)])
def test_the_port_of_our_own_supervisor_is_no_problem_and_that_of_another_is(unit: str, problems: int) -> None:
    owners = {33: Owner(7, "python3", unit=unit)}
    names = {MINE: NAMES[MINE]}
    found = host_problems.ports([MASTER], OLD_RUN, owners, NAMES, names, (29500,), ["dgxspark-replica@a.service"])
    assert len(found) == problems


# Interfaces of field fault N03's host, whose management NIC is enP7s7 and which has no eth0.
N03 = {"lo": ["127.0.0.1"], "enP7s7": ["198.51.100.26"], "enp1s0f0np0": ["192.0.2.11"], "enP2p1s0f0np0": []}


@pytest.mark.parametrize(
    ("interface", "address", "found"),
    [
        (
            "eth0",
            "192.0.2.11/24",
            "no interface eth0; there are enP2p1s0f0np0, enP7s7, enp1s0f0np0; enp1s0f0np0 has 192.0.2.11",
        ),
        (
            "enP2p1s0f0np0",
            "192.0.2.11/24",
            "enP2p1s0f0np0 with no address; enp1s0f0np0 has 192.0.2.11",
        ),
        (
            "enp1s0f0np0",
            "192.0.2.12/24",
            "enp1s0f0np0 with 192.0.2.11; this host does not own 192.0.2.12",
        ),
    ],
    ids=["n03", "n03 the other half", "n14"],
)
def test_n03_n14_a_link_must_be_there_and_carry_its_address(interface: str, address: str, found: str) -> None:
    [problem] = host_problems.links([{"interface": interface, "address": address}], N03)
    assert problem.found == found
    assert problem.remedy == "Correct fabric_links of this host, or give the interface its address"
    assert host_problems.links([{"interface": "enp1s0f0np0", "address": "192.0.2.11/24"}], N03) == []


@pytest.mark.parametrize(
    ("total", "available", "share", "floor", "back", "found"),
    [
        # U01: 41.2 GB free and 103.9 GB available, page cache included; 89.3 GB wanted.
        (127600000 * 1024, 103900000 * 1024, 0.7, 4 * GIB, [], ""),
        (119 * GIB, 9 * GIB, 0.7, 6 * GIB, [], "9.0 GiB of 119.0 GiB memory available"),
        (
            119 * GIB,
            5 * GIB,
            0.7,
            6 * GIB,
            [0.7],
            "5.0 GiB of 119.0 GiB memory available and 83.3 GiB that our running",
        ),
        (119 * GIB, 20 * GIB, 0.7, 6 * GIB, [0.7], ""),
        (119 * GIB, 9 * GIB, 0.7, 6 * GIB, [None], ""),
    ],
    ids=[
        "u01 cache counts",
        "nobody gives back",
        "u05 too little even then",
        "u05 the old one gives back",
        "not certain",
    ],
)
def test_u01_u05_memory_for_the_new_engine(
    total: int, available: int, share: float, floor: int, back: list[float | None], found: str
) -> None:
    problems = host_problems.memory(Memory(total, available), share, floor, back)
    assert [problem.found.startswith(found) for problem in problems] == ([True] if found else [])
    if problems:
        assert problems[0].wanted == "89.3 GiB: a share of 0.7 for the engine and 6.0 GiB for the host"


def test_d06_a_strangers_container() -> None:
    [problem] = host_problems.stranger("vllm-rank0", "exited")
    assert problem.found == "a container vllm-rank0 (exited) that dgxspark.serving did not make"
    assert host_problems.stranger("vllm-rank0", "") == []
