# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what jobs printed to the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import counters, report, results
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw

CAPTURED = Path(__file__).parents[4] / "fixtures" / "fabric_test"
PAIR = "spark1 - spark2"


def measurement(kind: str, *over: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "over": list(over), "jobs": [], "skipped": "", "remedy": "", **more}


def job(name: str, code: int = 0) -> dict[str, Any]:
    return {"code": code, "out": (CAPTURED / name).read_text(encoding="utf-8"), "err": ""}


def ended(text: str, code: int = 1) -> dict[str, Any]:
    return {"code": code, "out": "", "err": text}


def test_several_links_at_once_are_added() -> None:
    both = measurement("tcp", "enp1s0f0np0", "enP2p1s0f0np0")
    found = results.read(PAIR, both, [job("iperf3-3.18-lab.json")] * 2, {"enp1s0f0np0": 5})
    assert round(found["value"], 1) == 52.7
    assert found["moved"] == {"enp1s0f0np0": 5}
    assert results.shown(found) == "52.74 Gb/s, 0 resent, reno"


def test_one_of_two_that_fails_is_a_failure() -> None:
    both = measurement("rdma_bandwidth", "rocep1s0f0", "roceP2p1s0f0")
    found = results.read(PAIR, both, [job("ib_write_bw.txt"), ended("Couldn't connect to 192.0.2.12:18515")], {})
    assert found["value"] is None
    assert results.shown(found) == "failed: Couldn't connect to 192.0.2.12:18515"


def test_an_all_gather_says_which_network_it_took() -> None:
    text = (CAPTURED / "all_gather_perf-mtu1500.txt").read_text() + (CAPTURED / "nccl-log-ib.txt").read_text()
    found = results.read(PAIR, measurement("all_gather", "rocep1s0f0"), [{"code": 0, "out": text, "err": ""}], {})
    assert results.shown(found) == "20.95 GB/s (168 Gb/s), by IB"


def test_an_image_without_torch_is_no_fault_of_the_fabric() -> None:
    words = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'torch'"
    found = results.read(PAIR, measurement("all_gather", "rocep1s0f0"), [ended(words)], {})
    assert found["failed"] == ""
    assert found["skipped"] == "the image has no torch"


def test_latency_is_in_microseconds() -> None:
    found = results.read(PAIR, measurement("rdma_latency", "rocep1s0f1"), [job("ib_write_lat.txt")], {})
    assert results.shown(found) == "1.47 us"


def test_counters() -> None:
    files = {
        "/sys/class/net/enp1s0f0np0/statistics/tx_bytes": "1000\n",
        "/sys/class/infiniband/rocep1s0f0/ports/1/counters/port_xmit_data": "250\n",
    }
    names = (["enp1s0f0np0", "enP2p1s0f0np0"], ["rocep1s0f0"])
    assert set(files) <= set(counters.sources(*names).files)
    before = counters.read(Raw(files=files), *names)
    # port_xmit_data counts words of four bytes.
    assert before == {"enp1s0f0np0": 1000, "rocep1s0f0": 1000}
    assert counters.moved(before, {"enp1s0f0np0": 1500, "rocep1s0f0": 10}) == {"enp1s0f0np0": 500}


def row(found: list[dict[str, Any]], speed: int = 10000) -> list[dict[str, Any]]:
    up = {"speed": speed, "mtu": 9000, "state": "up"}
    links = {"enp1s0f0np0": dict(up), "enP2p1s0f0np0": dict(up)}
    looks = {"spark1": {"links": links}, "spark2": {"links": links}}
    ends = [
        {end: {"interface": name, "rdma_device": device} for end in ("client", "server")}
        for name, device in (("enp1s0f0np0", "rocep1s0f0"), ("enP2p1s0f0np0", "roceP2p1s0f0"))
    ]
    pair = {"name": PAIR, "client": "spark1", "server": "spark2", "links": ends}
    return report.data([pair], looks, found)


def plain(kind: str, value: float, *over: str, **more: Any) -> dict[str, Any]:
    return {**results.empty(PAIR, measurement(kind, *over)), "value": value, **more}


def test_the_table() -> None:
    skipped = [
        results.empty(PAIR, measurement("rdma_bandwidth", name, skipped="spark1 has no RDMA device", remedy="load it"))
        for name in ("rocep1s0f0", "roceP2p1s0f0")
    ]
    rows = row([plain("tcp", 9.41, "enp1s0f0np0", retransmits=3), *skipped])
    assert report.lines(rows, ["A note."]) == [
        "pair             test                over         measured                            good on a Spark",
        "---------------  ------------------  -----------  ----------------------------------  ---------------",
        "spark1 - spark2  TCP (iperf3)        enp1s0f0np0  9.41 Gb/s, 3 resent                 96-110 Gb/s",
        "spark1 - spark2  RDMA (ib_write_bw)               skipped: spark1 has no RDMA device",
        "",
        "spark1 - spark2: not judged: no QSFP link of a DGX Spark: enp1s0f0np0 of spark1 says 10000 Mb/s.",
        "",
        "spark1 has no RDMA device: load it.",
        "A note.",
    ]
    assert report.bad(rows) == ""


def test_kernel_settings_are_compared() -> None:
    tried = [
        plain("tcp", value, "enp1s0f0np0", settings=settings, retransmits=resent)
        for value, settings, resent in ((0.5, "settings before prepare", 190), (0.8, "settings of prepare", 260))
    ]
    said = report.lines(row([plain("tcp", 9.0, "enp1s0f0np0"), *tried]), [])
    assert (
        "spark1 - spark2: TCP over enp1s0f0np0 moved 0.50 Gb/s, 190 resent with the settings before prepare; "
        "0.80 Gb/s, 260 resent with the settings of prepare."
    ) in said


def test_a_bad_pair_fails_the_run() -> None:
    rows = row([plain("tcp", 12.9, "enp1s0f0np0"), plain("tcp", 108.0, "enP2p1s0f0np0")], speed=200000)
    said = report.bad(rows)
    assert said.startswith("1 of 1 pairs are not as they should be. spark1 - spark2: degraded init. ")
    assert "power bricks" in said


def test_the_worse_end_is_named() -> None:
    looks = {
        host: {"links": {"x": {"speed": 200000, "mtu": mtu, "state": "up"}}} for host, mtu in (("a", 9000), ("b", 1500))
    }
    ends = {end: {"interface": "x", "rdma_device": "r"} for end in ("client", "server")}
    pair = {"name": PAIR, "client": "a", "server": "b", "links": [ends]}
    (judged,) = report.data([pair], looks, [plain("all_gather", 20.0, "r")])
    assert judged["verdict"]["word"] == "one twin"
    (judged,) = report.data(
        [{**pair, "links": [ends, ends]}], looks, [plain("all_gather", 20.0, "r", transport="roce")]
    )
    assert judged["verdict"]["why"].startswith(
        "x of b has MTU 1500, wanted 9000 at both ends; the all-gather moved 20.0"
    )


def test_a_link_that_is_down_is_named() -> None:
    looks = {
        host: {"links": {"x": {"speed": 0, "mtu": 9000, "state": state}}} for host, state in (("a", "up"), ("b", ""))
    }
    ends = {end: {"interface": "x", "rdma_device": "r"} for end in ("client", "server")}
    rows = report.data([{"name": PAIR, "client": "a", "server": "b", "links": [ends]}], looks, [])
    assert rows[0]["verdict"]["word"] == "link down"
    assert rows[0]["verdict"]["why"] == "x of b is not up, so it carries nothing."
    assert report.bad(rows)
