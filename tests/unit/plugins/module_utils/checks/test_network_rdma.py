# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What RDMA over the fabric needs."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import (
    LINKS,
    NEAR,
    check,
    gids,
    spark,
    troubled,
    want,
)

STATE = "/sys/class/infiniband/rocep1s0f0/ports/1"


def linked(device: str) -> list[dict[str, str]]:
    return [{**LINKS[0], "rdma_device": device}]


@pytest.mark.parametrize("word", ["rdma_device", "gid_index", "infiniband"])
def test_sockets_need_none_of_it(word: str) -> None:
    one = check(word, spark(), want(transport="socket", gid_index=3))
    assert (one.status, one.found) == ("skip", "the transport is socket")


@pytest.mark.parametrize(
    ("device", "found", "wanted", "remedy"),
    [
        (
            "mlx5_0",
            f"no RDMA device mlx5_0 for {NEAR}; there are roceP2p1s0f0, roceP2p1s0f1, rocep1s0f0, rocep1s0f1",
            "rocep1s0f0",
            f"Write rdma_device: rocep1s0f0 for {NEAR} into fabric_links",
        ),
        (
            "rocep1s0f1",
            "rocep1s0f1 belongs to enp1s0f1np1",
            f"the RDMA device of {NEAR}, rocep1s0f0",
            f"Write the rdma_device of {NEAR} into fabric_links: rocep1s0f0",
        ),
    ],
)
def test_the_device_is_that_of_the_interface(device: str, found: str, wanted: str, remedy: str) -> None:
    one = check("rdma_device", spark(), want(links=linked(device), peers=()))
    assert (one.status, one.found, one.wanted, one.remedy) == ("fail", found, wanted, remedy)


def test_the_device_is_active() -> None:
    raw = spark(files={f"{STATE}/state": "1: DOWN\n", f"{STATE}/phys_state": "3: Disabled\n"})
    one = check("rdma_device", raw)
    assert (one.status, one.found) == ("fail", "rocep1s0f0 is DOWN (Disabled)")
    pulled = spark(
        files={f"{STATE}/state": "1: DOWN\n"}, interfaces={NEAR: {"flags": ["UP", "NO-CARRIER"], "operstate": "DOWN"}}
    )
    assert troubled(pulled) == {"interface": "fail"}


def test_d11_the_files_by_which_a_container_uses_rdma() -> None:
    raw = spark(links={f"/dev/infiniband/uverbs{number}": None for number in range(4)})
    one = check("infiniband", raw)
    assert (one.status, one.found) == ("fail", "no /dev/infiniband/uverbs*")
    assert "modprobe -a mlx5_ib ib_uverbs" in one.remedy
    assert troubled(raw) == {"infiniband": "fail"}


def test_d11_without_any_device_the_cause_is_named_once() -> None:
    names = ("rocep1s0f0", "rocep1s0f1", "roceP2p1s0f0", "roceP2p1s0f1")
    gone = {f"/sys/class/infiniband/{name}/device": None for name in names}
    raw = spark(links={**gone, **{f"/dev/infiniband/uverbs{number}": None for number in range(4)}})
    assert troubled(raw) == {"rdma_device": "fail"}
    assert check("rdma_device", raw).found.startswith(f"no RDMA device rocep1s0f0 for {NEAR}; there are none")


V1, V2 = "IB/RoCE v1", "RoCE v2"
# The tables of field fault N17's two hosts.
SPARK_A = {1: ("fe80::1", V2), 2: ("::ffff:192.0.2.11", V1), 3: ("::ffff:192.0.2.11", V2)}
SPARK_B = {1: ("fe80::2", V2), 3: ("fe80::3", V2), 5: ("::ffff:192.0.2.12", V2)}


@pytest.mark.parametrize(
    ("table", "address", "index", "status", "found"),
    [
        (SPARK_A, "192.0.2.11/24", 3, "pass", "rocep1s0f0 3 is 192.0.2.11"),
        (SPARK_B, "192.0.2.12/24", 3, "fail", "rocep1s0f0 3 is fe80::3, RoCE v2"),
        (SPARK_B, "192.0.2.12/24", 5, "pass", "rocep1s0f0 5 is 192.0.2.12"),
        (SPARK_A, "192.0.2.11/24", 2, "fail", "rocep1s0f0 2 is 192.0.2.11, IB/RoCE v1"),
        (SPARK_A, "192.0.2.11/24", 0, "fail", "rocep1s0f0 0 is empty"),
        (SPARK_A, "192.0.2.11/24", None, "skip", "fabric_gid_index is not set, so NCCL chooses"),
        ({}, "192.0.2.11/24", 3, "skip", "the table of rocep1s0f0 cannot be read"),
        ({3: ("", V2), 4: ("nonsense", V2)}, "192.0.2.11/24", 3, "skip", "the table of rocep1s0f0 cannot be read"),
    ],
    ids=["a", "b", "b's own", "version 1", "empty", "not set", "no table", "no addresses"],
)
def test_n17_the_gid_index_leads_to_the_address(
    table: dict[int, tuple[str, str]], address: str, index: int | None, status: str, found: str
) -> None:
    local, length = address.split("/")
    raw = spark(
        files=gids("rocep1s0f0", table),
        interfaces={NEAR: {"addr_info": [{"local": local, "prefixlen": int(length)}]}},
    )
    wish = want(links=[{**LINKS[0], "address": address}], peers=(), gid_index=index)
    one = check("gid_index", raw, wish)
    assert (one.status, one.found) == (status, found)


def test_n17_the_remedy_names_the_index_of_this_host() -> None:
    raw = spark(files=gids("rocep1s0f0", SPARK_A))
    one = check("gid_index", raw, want(links=LINKS[:1], peers=(), gid_index=1))
    assert one.remedy == "Leave fabric_gid_index out, then NCCL chooses by itself, or set 3 for this host"


def test_n17_a_real_table() -> None:
    """As sysfs writes addresses, with the zeros of empty entries."""
    rows = {
        0: ("fe80:0000:0000:0000:4ebb:47ff:fe00:0001", V1),
        1: ("fe80:0000:0000:0000:4ebb:47ff:fe00:0001", V2),
        2: ("0000:0000:0000:0000:0000:ffff:c000:020b", V1),
        3: ("0000:0000:0000:0000:0000:ffff:c000:020b", V2),
        4: ("0000:0000:0000:0000:0000:0000:0000:0000", V2),
    }
    raw = spark(files=gids("rocep1s0f0", rows))
    assert check("gid_index", raw, want(links=LINKS[:1], gid_index=3)).status == "pass"
    assert check("gid_index", raw, want(links=LINKS[:1], gid_index=4)).found == "rocep1s0f0 4 is empty"
