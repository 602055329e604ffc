# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The links of one host as they are: what all checks of the network look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, failed, skipped, warned
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import ip_json, netdev, rdma
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw

ADDRESSES = "ip address"
ROCE = "roce"

Link = Mapping[str, str]


@dataclass(frozen=True)
class View:
    """What a host has.

    :ivar interfaces: all its network interfaces
    :ivar ports: the interfaces of each QSFP port
    :ivar devices: all its RDMA devices; none are looked for when sockets carry the data
    """

    raw: Raw
    want: Want
    interfaces: Mapping[str, ip_json.Interface]
    ports: Mapping[str, list[str]]
    devices: Mapping[str, rdma.Device]

    @property
    def bad(self) -> Callable[..., Check]:
        """What a fault of a link is: nothing works without it when the replica spans several hosts."""
        return failed if self.want.world_size > 1 else warned

    def works(self, interface: str) -> bool:
        """Whether an interface is there and has a signal."""
        found = self.interfaces.get(interface)
        return found is not None and found.up and found.carrier

    def has(self, link: Link) -> bool:
        """Whether a link's interface has the link's address, whatever its prefix length."""
        found = self.interfaces.get(link["interface"])
        address = link["address"].partition("/")[0]
        return found is not None and any(one.partition("/")[0] == address for one in found.addresses)

    def holders(self, link: Link) -> list[str]:
        """Other interfaces that have a link's address."""
        return [name for name in self.interfaces if self.has({**link, "interface": name}) and name != link["interface"]]


def view(raw: Raw, want: Want) -> View:
    """Read what was looked at."""
    interfaces = ip_json.interfaces(raw.output(ADDRESSES).out)
    return View(raw, want, interfaces, netdev.ports(raw, interfaces), rdma.devices(raw))


def follows(name: str, cause: str) -> Check:
    """What cannot be said because of a fault that another check names."""
    return skipped(name, f"follows from {cause}")
