# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is to be and to do, as the preflight holds it against what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Peer:
    """Another host on one link of this one.

    :ivar host: its name in the inventory
    :ivar address: its address there, without prefix length
    :ivar interface: this host's interface to it
    :ivar must: whether a rank of the same replica is there, so that nothing works without it
    """

    host: str
    address: str
    interface: str
    must: bool = True


@dataclass(frozen=True)
class Want:
    """What is wanted of one host.

    :ivar host: its name in the inventory
    :ivar root: whether the look is root's
    :ivar user: who looks
    :ivar world_size: hosts of its replica; 0 when nothing is planned for it
    :ivar image: the engine's image; empty when nothing is planned
    :ivar transport: ``roce`` or ``socket``, what carries the data of its replica
    :ivar links: its fabric links: ``interface``, ``address`` with prefix length, ``rdma_device`` (may be empty)
    :ivar peers: who must be reached by them
    :ivar gid_index: RoCE GID index that is set for it
    :ivar mtu: of the fabric, in bytes
    :ivar memory_share: of all memory, what its engine takes; None when nothing is planned
    :ivar memory_floor: bytes that must be left for the host
    :ivar shares_back: what each running engine of ours gives back when it is replaced; None where that is not known
    :ivar settled: whether the planned rank runs there already, as wanted
    :ivar sysctl: wanted kernel settings
    :ivar container: name of the planned rank's container; empty when nothing is planned
    :ivar disk_warn: GB (10^9 bytes) free where Docker keeps images, under which to warn; under ``disk_fail`` it fails
    :ivar versions: whether to start a container to read the versions of what is in the image
    :ivar gpu_probe: whether to start a container to see the GPU in it
    """

    host: str = ""
    root: bool = True
    user: str = "root"
    world_size: int = 0
    image: str = ""
    transport: str = "socket"
    links: Sequence[Mapping[str, str]] = ()
    peers: Sequence[Peer] = ()
    gid_index: int | None = None
    mtu: int = 9000
    memory_share: float | None = None
    memory_floor: int = 0
    shares_back: Sequence[float | None] = ()
    settled: bool = False
    sysctl: Mapping[str, str] = field(default_factory=dict)
    container: str = ""
    disk_warn: int = 100
    disk_fail: int = 20
    versions: bool = False
    gpu_probe: bool = False


def read(data: Mapping[str, Any], root: bool, user: str) -> Want:
    """Read what :func:`wanted.wanted` made, as it comes to the host: older Ansible hands numbers over as text.

    :param data: may be empty; whatever is not in it has its default
    :param root: whether the look is root's
    :param user: who looks
    """
    share, index = data.get("memory_share"), data.get("gid_index")
    return Want(
        host=data.get("host", ""),
        root=root,
        user=user,
        world_size=int(data.get("world_size") or 0),
        image=data.get("image", ""),
        container=data.get("container", ""),
        transport=data.get("transport", "socket"),
        links=data.get("links", ()),
        peers=[Peer(**{**peer, "must": str(peer["must"]).lower() == "true"}) for peer in data.get("peers", ())],
        gid_index=None if index in (None, "") else int(index),
        memory_share=None if share in (None, "") else float(share),
    )
