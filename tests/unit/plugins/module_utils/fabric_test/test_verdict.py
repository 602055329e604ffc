# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What figures mean. The figures are those of facts: good links, and faults that others have met."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import figures, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.verdict import Link


def link(interface: str, rdma_device: str, speed: int = 200000, mtu: int = 9000) -> Link:
    return Link(interface, rdma_device, speed, mtu, f"{interface} of spark2", f"{interface} of spark2")


ONE = link("enp1s0f0np0", "rocep1s0f0")
TWO = link("enP2p1s0f0np0", "roceP2p1s0f0")
LAB = (link("enp1s0f0np0", "", 10000), link("enP2p1s0f0np0", "", 10000))
TWINS = (ONE, TWO)
BOTH = "rocep1s0f0,roceP2p1s0f0"


def result(kind: str, over: list[str], value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "over": over,
        "value": value,
        "settings": "",
        "failed": "",
        "skipped": "",
        "moved": {},
        "sockets": False,
        "transport": "roce",
        "environment": {"NCCL_IB_HCA": BOTH},
        **more,
    }


def tcp(one: float, two: float, both: float) -> list[dict[str, Any]]:
    names = [ONE.interface, TWO.interface]
    return [result("tcp", [names[0]], one), result("tcp", [names[1]], two), result("tcp", names, both)]


def rdma(one: float, two: float, both: float) -> list[dict[str, Any]]:
    names = [ONE.rdma_device, TWO.rdma_device]
    kind = "rdma_bandwidth"
    return [result(kind, [names[0]], one), result(kind, [names[1]], two), result(kind, names, both)]


def gather(busbw: float, **more: Any) -> list[dict[str, Any]]:
    return [result("all_gather", [ONE.rdma_device, TWO.rdma_device], busbw, **more)]


GOOD_TCP = tcp(108.0, 109.0, 180.0)
GOOD_RDMA = rdma(111.7, 108.1, 196.0)


@pytest.mark.parametrize(
    ("results", "word"),
    [
        (GOOD_TCP + GOOD_RDMA + gather(24.1), verdict.HEALTHY),
        (GOOD_TCP + GOOD_RDMA + gather(figures.PASS_BUSBW), verdict.HEALTHY),
        (GOOD_TCP + GOOD_RDMA + gather(20.9), verdict.BELOW),
        (GOOD_TCP + GOOD_RDMA, verdict.HEALTHY),
        (GOOD_TCP + rdma(90.0, 90.0, 160.0), verdict.BELOW),
        (GOOD_TCP, verdict.HEALTHY),
        (tcp(96.0, 96.0, 150.0), verdict.BELOW),
        # dgx-spark-playbooks#108: TCP 12.86 and RDMA 13.23 Gb/s on a link that says 200000 Mb/s.
        (tcp(12.86, 100.0, 110.0), verdict.DEGRADED),
        (GOOD_TCP + rdma(13.23, 108.0, 120.0) + gather(12.0), verdict.DEGRADED),
        # TCP that is slow where RDMA is not is no fault of the link.
        (tcp(22.0, 24.0, 40.0) + GOOD_RDMA + gather(24.0), verdict.HEALTHY),
        (GOOD_TCP + GOOD_RDMA + gather(3.0), verdict.SOCKETS),
        (tcp(96.0, 97.0, 98.0), verdict.ONE_TWIN),
        (GOOD_TCP + GOOD_RDMA + gather(23.0, moved={"rocep1s0f0": 10**10, "roceP2p1s0f0": 10**6}), verdict.ONE_TWIN),
        (GOOD_TCP + GOOD_RDMA + gather(23.9, moved={"rocep1s0f0": 10**10, "roceP2p1s0f0": 10**10}), verdict.HEALTHY),
        ([], verdict.NOT_JUDGED),
    ],
)
def test_word(results: list[dict[str, Any]], word: str) -> None:
    said = verdict.judge(TWINS, results)
    assert said.word == word, said
    assert said.why
    assert bool(said.remedy) == (word not in verdict.GOOD)


def test_n18_one_half_only() -> None:
    results = GOOD_TCP + gather(12.2, environment={"NCCL_IB_HCA": "rocep1s0f0"})
    said = verdict.judge(TWINS, results)
    assert said.word == verdict.ONE_TWIN
    assert said.why.startswith("One half only of the cable was used (NCCL_IB_HCA=rocep1s0f0): 12.2 GB/s")


def test_n18_one_link_in_the_inventory() -> None:
    said = verdict.judge((ONE,), [result("tcp", [ONE.interface], 108.0)])
    assert said.word == verdict.ONE_TWIN
    assert "one half only of a cable, enp1s0f0np0: 108.0 Gb/s" in said.why


def test_d11_sockets_name_the_docker_options() -> None:
    said = verdict.judge(TWINS, GOOD_TCP + gather(3.1, sockets=True))
    assert said.word == verdict.SOCKETS
    for option in ("--device /dev/infiniband", "--cap-add IPC_LOCK", "--ulimit memlock=-1"):
        assert option in said.remedy


def test_d11_sockets_that_are_wanted_are_no_fallback() -> None:
    said = verdict.judge(TWINS, GOOD_TCP + gather(22.5, sockets=True, transport="socket"))
    assert said.word == verdict.HEALTHY


@pytest.mark.parametrize(("busbw", "words"), [(18.94, "18.9 GB/s (152 Gb/s)"), (22.5, "22.5 GB/s")])
def test_a_small_mtu_explains_what_is_missing(busbw: float, words: str) -> None:
    small = (ONE, link(TWO.interface, TWO.rdma_device, mtu=1500))
    said = verdict.judge(small, GOOD_TCP + gather(busbw))
    assert said.word == verdict.MTU
    assert "enP2p1s0f0np0 of spark2 has MTU 1500, wanted 9000" in said.why
    assert words in said.why


def test_another_link_is_not_judged_by_spark_figures() -> None:
    said = verdict.judge(LAB, tcp(9.4, 9.3, 14.0))
    assert said == verdict.Verdict(
        verdict.NOT_JUDGED, "no QSFP link of a DGX Spark: enp1s0f0np0 of spark2 says 10000 Mb/s.", "", ()
    )


def test_unlike_twins_are_seen_on_any_link() -> None:
    said = verdict.judge(LAB, tcp(9.4, 0.5, 9.9))
    assert said.notes == ("enP2p1s0f0np0 moves 0.50 Gb/s, enp1s0f0np0 9.40 Gb/s: they are not alike.",)


def test_traffic_that_left_by_the_other_twin() -> None:
    results = tcp(96.0, 96.0, 180.0)
    results[1]["moved"] = {"enp1s0f0np0": 10**10, "enP2p1s0f0np0": 10**4}
    assert verdict.judge(TWINS, results).notes == (
        "traffic for enP2p1s0f0np0 left by another interface: give each link a network of its own.",
    )


def test_a_measurement_that_failed() -> None:
    results = [result("tcp", [ONE.interface], None, failed="Connection refused"), *GOOD_TCP[1:]]
    said = verdict.judge(TWINS, results)
    assert said.word == verdict.FAILED
    assert "Connection refused" in said.why


def test_other_kernel_settings_are_not_judged() -> None:
    slow = [{**one, "value": 1.0, "settings": "settings before prepare"} for one in GOOD_TCP]
    assert verdict.judge(TWINS, slow + GOOD_TCP).word == verdict.HEALTHY


def test_a_failure_on_another_link_is_not_a_fault_of_a_spark() -> None:
    results = [*tcp(9.4, 9.3, 14.0)[:2], result("tcp", ["enp1s0f0np0"], None, failed="cut off")]
    assert verdict.judge(LAB, results).word == verdict.FAILED


def test_interfaces_do_not_count_as_rdma_ports() -> None:
    """RDMA does not pass the interfaces' counters; the chatter there must not look like the load."""
    moved = {"enp1s0f0np0": 10**12, "enP2p1s0f0np0": 10**12, "rocep1s0f0": 10**10, "roceP2p1s0f0": 10**10}
    assert verdict.judge(TWINS, GOOD_TCP + GOOD_RDMA + gather(23.9, moved=moved)).word == verdict.HEALTHY


def test_sockets_by_choice_need_no_rdma_port() -> None:
    moved = {"enp1s0f0np0": 10**12, "rocep1s0f0": 10**10, "roceP2p1s0f0": 0}
    results = GOOD_TCP + gather(22.0, moved=moved, transport="socket", sockets=True)
    assert verdict.judge(TWINS, results).word == verdict.HEALTHY


def test_a_slow_twin_among_several_has_not_left_by_another() -> None:
    results = tcp(9.4, 0.2, 9.5)
    results[2]["moved"] = {"enp1s0f0np0": 10**10, "enP2p1s0f0np0": 10**7}
    assert len(verdict.judge(LAB, results).notes) == 1
