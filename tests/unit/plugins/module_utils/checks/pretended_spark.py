# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of a healthy DGX Spark as it is read, to be broken by tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import network
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.network_view import ADDRESSES
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Peer, Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw

CAPTURED = Path(__file__).parents[4] / "fixtures" / "host" / "network"

NEAR, FAR = "enp1s0f0np0", "enP2p1s0f0np0"
LINKS = (
    {"interface": NEAR, "address": "192.0.2.11/25", "rdma_device": "rocep1s0f0"},
    {"interface": FAR, "address": "192.0.2.139/25", "rdma_device": "roceP2p1s0f0"},
)
PEERS = (Peer("spark-b", "192.0.2.12", NEAR), Peer("spark-b", "192.0.2.140", FAR))

# Interface, RDMA device and PCI address of each half of each port.
_QSFP = (
    (NEAR, "rocep1s0f0", "0000:01:00.0"),
    ("enp1s0f1np1", "rocep1s0f1", "0000:01:00.1"),
    (FAR, "roceP2p1s0f0", "0002:01:00.0"),
    ("enP2p1s0f1np1", "roceP2p1s0f1", "0002:01:00.1"),
)
_PCIE = {
    "current_link_width": "4",
    "max_link_width": "4",
    "current_link_speed": "32.0 GT/s PCIe",
    "max_link_speed": "32.0 GT/s PCIe",
}


def captured(name: str) -> str:
    """The text of a fixture."""
    return (CAPTURED / name).read_text(encoding="utf-8")


def want(**changes: Any) -> Want:
    """What is wanted of it: one of a pair, with RDMA."""
    wishes: dict[str, Any] = {"host": "spark-a", "world_size": 2, "transport": "roce", "links": LINKS, "peers": PEERS}
    return Want(**{**wishes, **changes})


def gids(device: str, rows: Mapping[int, tuple[str, str]]) -> dict[str, str]:
    """The files of a table of GIDs.

    :param rows: address and kind, by index
    """
    folder = f"/sys/class/infiniband/{device}/ports/1"
    files = {}
    for number, (address, kind) in rows.items():
        files[f"{folder}/gids/{number}"] = f"{address}\n"
        files[f"{folder}/gid_attrs/types/{number}"] = f"{kind}\n"
    return files


def spark(
    files: Mapping[str, str | None] | None = None,
    links: Mapping[str, str | None] | None = None,
    outputs: Mapping[str, Output] | None = None,
    interfaces: Mapping[str, Mapping[str, Any] | None] | None = None,
) -> Raw:
    """What is read on it, with changes; None takes something away.

    :param interfaces: changed keys of ``ip -json address`` by interface
    """
    rows = {row["ifname"]: row for row in json.loads(captured("ip-address-spark.json"))}
    for name, change in (interfaces or {}).items():
        rows[name] = {"ifname": name, **rows.get(name, {}), **change} if change is not None else None
    answered = captured("ping-answered.txt")
    all_outputs = {
        ADDRESSES: Output(0, json.dumps([row for row in rows.values() if row])),
        **{f"ping {peer.interface} {peer.address}": Output(0, answered) for peer in PEERS},
        **{
            f"route {peer.address}": Output(0, f'[{{"dst":"{peer.address}","dev":"{peer.interface}","flags":[]}}]')
            for peer in PEERS
        },
    }
    all_files: dict[str, str | None] = {}
    all_links: dict[str, str | None] = {f"/dev/infiniband/uverbs{number}": "" for number in range(4)}
    for interface, device, address in _QSFP:
        path = f"/sys/devices/pci{address[:4]}:00/{address[:4]}:00:00.0/{address}"
        all_links[f"/sys/class/net/{interface}/device"] = path
        all_links[f"/sys/class/infiniband/{device}/device"] = path
        lit = interface in (NEAR, FAR)
        all_files[f"/sys/class/infiniband/{device}/ports/1/state"] = "4: ACTIVE\n" if lit else "1: DOWN\n"
        all_files[f"/sys/class/infiniband/{device}/ports/1/phys_state"] = "5: LinkUp\n" if lit else "3: Disabled\n"
        all_files[f"/sys/class/net/{interface}/phys_port_name"] = f"p{interface[-1]}\n"
        all_files[f"/sys/class/net/{interface}/speed"] = "200000\n" if lit else "-1\n"
        for file, text in _PCIE.items():
            all_files[f"/sys/class/net/{interface}/device/{file}"] = f"{text}\n"
    return Raw(
        _present({**all_files, **(files or {})}),
        _present({**all_links, **(links or {})}),
        {**all_outputs, **(outputs or {})},
    )


def _present(texts: Mapping[str, str | None]) -> dict[str, str]:
    return {path: text for path, text in texts.items() if text is not None}


def check(word: str, raw: Raw, wish: Want | None = None) -> Check:
    """One check of it."""
    return next(one for one in network.checks(raw, wish or want()) if one.id == f"network.{word}")


def troubled(raw: Raw, wish: Want | None = None) -> dict[str, str]:
    """The words of all checks that find fault, with their status."""
    found = network.checks(raw, wish or want())
    return {one.id.partition(".")[2]: one.status for one in found if one.status in ("warn", "fail")}
