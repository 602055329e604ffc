# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tools print: iperf3, perftest, nccl-tests and NCCL's log, as captured from others' machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import iperf3, nccl, perftest

CAPTURED = Path(__file__).parents[4] / "fixtures" / "fabric_test"


def captured(name: str) -> str:
    return (CAPTURED / name).read_text(encoding="utf-8")


def test_iperf3() -> None:
    found = iperf3.parse(captured("iperf3-3.18-lab.json"))
    assert found.gbits == pytest.approx(26.37, abs=0.01)
    assert found.retransmits == 0
    assert found.congestion == "reno"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (captured("iperf3-3.18-refused.json"), "Connection refused"),
        ("", "iperf3 said nothing"),
        ("iperf3: error - unable to start\n", "unable to start"),
        ('{"start": {}, "end": {}}', "cut off"),
        ("[]", "did not answer"),
    ],
)
def test_iperf3_without_a_figure(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        iperf3.parse(text)


def test_iperf3_where_nobody_counts_retransmits() -> None:
    found = iperf3.parse('{"end": {"sum_received": {"bits_per_second": 1e9}, "sum_sent": {}}}')
    assert found == iperf3.Tcp(1.0, None, "")


@pytest.mark.parametrize(("name", "gbits"), [("ib_write_bw.txt", 111.71), ("ib_write_bw-duration.txt", 98.03)])
def test_bandwidth(name: str, gbits: float) -> None:
    assert perftest.bandwidth(captured(name)) == gbits


def test_latency() -> None:
    assert perftest.latency(captured("ib_write_lat.txt")) == 1.47


@pytest.mark.parametrize("text", ["", "Couldn't connect to 192.0.2.12:18515\n", "----\n banner of Gb/sec\n----\n"])
def test_perftest_without_a_figure(text: str) -> None:
    with pytest.raises(ValueError):
        perftest.bandwidth(text)
    with pytest.raises(ValueError):
        perftest.latency(text)


def test_perftest_says_why() -> None:
    with pytest.raises(ValueError, match=r"Couldn't connect to 192\.0\.2\.12:18515"):
        perftest.bandwidth("---\nCouldn't connect to 192.0.2.12:18515\n---\n")


@pytest.mark.parametrize(
    ("name", "rows", "busbw"), [("all_gather_perf-mtu1500.txt", 1, 20.95), ("all_gather_perf-old.txt", 2, 0.86)]
)
def test_nccl_tests(name: str, rows: int, busbw: float) -> None:
    assert len(nccl.rows(captured(name))) == rows
    assert nccl.best(captured(name)).busbw == busbw


def test_a_size_and_its_time() -> None:
    (row,) = nccl.rows(captured("all_gather_perf-mtu1500.txt"))
    assert (row.size, row.microseconds, row.wrong) == (17179869184, 453650, False)


def test_wrong_data_is_no_figure() -> None:
    with pytest.raises(ValueError, match="data arrived wrong"):
        nccl.best(captured("all_gather_perf-mtu1500.txt").replace("18.94       0", "18.94       7"))


def test_no_table() -> None:
    with pytest.raises(ValueError, match="torch sees no GPU"):
        nccl.best("a:1:1 [0] NCCL INFO cudaDriverVersion 1\ntorch sees no GPU in the container\n")


@pytest.mark.parametrize(
    ("log", "network", "sockets"),
    [
        (captured("nccl-log-ib.txt"), "IB", False),
        (captured("nccl-log-socket.txt"), "Socket", True),
        ("", "", False),
        ("spark:1:1 [0] NCCL INFO Initialized NET plugin IB\n", "IB", False),
        ("spark:1:1 [0] NCCL INFO NET/IB : No device found.\n", "", True),
    ],
)
def test_network(log: str, network: str, sockets: bool) -> None:
    assert nccl.network(log) == network
    assert nccl.is_sockets(log) == sockets


def test_d11_nccl_falls_back_to_sockets() -> None:
    log = "NCCL INFO NET/IB : No device found.\nNCCL INFO Using network Socket\n"
    assert nccl.network(log) == "Socket"
    assert nccl.is_sockets(log)
