# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each fabric link of a host by itself: interface, MTU, speed, address, PCI Express."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, passed, skipped, warned
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.network_view import Link, View, follows
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import netdev

# What each half of a QSFP port says of the cable, in Mb/s; PCI Express lets it move half of that.
SPEED = 200_000

_PREPARE = "the playbook prepare with the tag fabric sets it for good"
_NOT_FABRIC = ("lo", "veth", "docker", "br-")


def interface(view: View, link: Link) -> Check:
    """Whether it is there, switched on, and has a signal (field faults N03 and N04)."""
    check, name = "network.interface", link["interface"]
    here = view.interfaces.get(name)
    if here is None:
        known = ", ".join(sorted(one for one in view.interfaces if not one.startswith(_NOT_FABRIC))) or "none"
        found = f"no interface {name}; there are {known}" + _holders(view, link)
        remedy = "Write this host's own interface into its fabric_links: names differ with the cage the cable is in"
        return view.bad(check, found, f"{name} up", remedy)
    if not here.up:
        return view.bad(check, f"{name} is down", f"{name} up", f"Run ip link set {name} up; {_PREPARE}")
    if not here.carrier:
        remedy = "Plug in the QSFP cable at both ends, and see that the other host is on"
        others = [one for one in _other_ports(view, name) if view.works(one)]
        if others:
            remedy = f"Name {' and '.join(others)} in fabric_links, for the cable is in that cage, or move the cable"
        return view.bad(check, f"{name} has no carrier", f"{name} up", remedy)
    return passed(check, f"{name} up")


def _holders(view: View, link: Link) -> str:
    holders = view.holders(link)
    return f"; {holders[0]} has {link['address'].partition('/')[0]}" if holders else ""


def _other_ports(view: View, name: str) -> list[str]:
    links = {link["interface"] for link in view.want.links}
    return [one for names in view.ports.values() if name not in names for one in names if one not in links]


def mtu(view: View, link: Link) -> Check:
    """Whether it carries packets of the fabric's size."""
    check, name = "network.mtu", link["interface"]
    here = view.interfaces.get(name)
    if here is None:
        return follows(check, "network.interface")
    if not here.mtu:
        return skipped(check, f"the MTU of {name} is unknown")
    if here.mtu < view.want.mtu:
        remedy = f"Run ip link set {name} mtu {view.want.mtu} on every host; {_PREPARE}"
        return warned(check, f"{name} {here.mtu}", f"{view.want.mtu}", remedy)
    return passed(check, f"{name} {here.mtu}")


def speed(view: View, link: Link) -> Check:
    """Whether the cable was agreed on at its full speed."""
    check, name = "network.speed", link["interface"]
    if not view.works(name):
        return follows(check, "network.interface")
    if not netdev.device(view.raw, name):
        return skipped(check, f"{name} is a virtual interface")
    found = netdev.speed(view.raw, name)
    if found is None:
        return skipped(check, f"the speed of {name} is unknown")
    if found < SPEED and any(name in names for names in view.ports.values()):
        remedy = "Use a cable and a switch port for 200 Gb/s, and plug the cable in anew at both ends"
        return warned(check, f"{name} {found} Mb/s", f"{SPEED} Mb/s", remedy)
    return passed(check, f"{name} {found} Mb/s")


def address(view: View, link: Link) -> Check:
    """Whether it has the address of the inventory (field faults N03 and N14)."""
    check, name, wanted = "network.address", link["interface"], link["address"]
    here = view.interfaces.get(name)
    if here is None:
        return follows(check, "network.interface")
    remedy = f"Correct fabric_links of this host, or give {name} its address; {_PREPARE}"
    if not view.has(link):
        own = ", ".join(one for one in here.addresses if not one.startswith("fe80:")) or "no address"
        whose = _holders(view, link) or f"; this host does not own {wanted.partition('/')[0]}"
        return view.bad(check, f"{name} with {own}{whose}", f"{name} with {wanted}", remedy)
    if wanted not in here.addresses and any("/" in one for one in here.addresses):
        found = next(one for one in here.addresses if one.partition("/")[0] == wanted.partition("/")[0])
        return warned(check, f"{name} with {found}", f"{name} with {wanted}", remedy)
    return passed(check, f"{name} with {wanted}")


def pcie(view: View, link: Link) -> Check:
    """Whether the card has all its lanes: with two of four, a half of the port moves half its data."""
    check, name = "network.pcie", link["interface"]
    found = netdev.pcie(view.raw, name)
    if found is None:
        known = name in view.interfaces
        reason = f"{name} shows no PCI Express link" if known else "follows from network.interface"
        return skipped(check, reason)
    if found.degraded:
        remedy = "Update the firmware with fwupdmgr, then shut down and take the power off for a minute"
        return warned(
            check,
            f"{name} x{found.width} at {found.speed:g} GT/s",
            f"x{found.most_width} at {found.most_speed:g} GT/s",
            remedy,
        )
    return passed(check, f"{name} x{found.width} at {found.speed:g} GT/s")
