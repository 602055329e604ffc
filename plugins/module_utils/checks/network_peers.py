# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to the other hosts: the interface that packets leave by, and the size that arrives."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    FAIL,
    WARN,
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.network_view import View, follows
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Peer, Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import ip_json, ping
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Sources


def sources(want: Want) -> Sources:
    """What to ask for each peer."""
    commands = {}
    for peer in want.peers:
        commands[_route(peer)] = ("ip", "-json", "route", "get", peer.address)
        commands[_ping(peer)] = ping.command(peer.interface, peer.address, want.mtu)
    return Sources(commands=commands)


def _route(peer: Peer) -> str:
    return f"route {peer.address}"


def _ping(peer: Peer) -> str:
    return f"ping {peer.interface} {peer.address}"


def _named(peer: Peer) -> str:
    return f"{peer.host} ({peer.address})"


def _cause(view: View, peer: Peer) -> str:
    """The check that names why a peer cannot be reached from here; empty when nothing is wrong here."""
    if not view.works(peer.interface):
        return "network.interface"
    own = [link for link in view.want.links if link["interface"] == peer.interface]
    return "" if all(view.has(link) for link in own) else "network.address"


def route(view: View, peer: Peer) -> Check:
    """Whether packets to a peer leave by the link to it (field fault N03); a default route is not needed."""
    check = "network.route"
    cause = _cause(view, peer)
    if cause:
        return follows(check, cause)
    bad = failed if peer.must else warned
    wanted = f"by {peer.interface}"
    output = view.raw.output(_route(peer))
    if output.code == MISSING:
        return skipped(check, "there is no program ip")
    if not output.ok:
        said = output.err.strip().partition("\n")[0].rpartition(":")[2].strip() or f"exit code {output.code}"
        remedy = f"Give {peer.interface} an address in the network of {peer.host}, in fabric_links and on the host"
        return bad(check, f"no route to {_named(peer)}: {said}", wanted, remedy)
    found = ip_json.route(output.out)
    if found is None or not (found.interface or found.local):
        return skipped(check, f"the route to {_named(peer)} is unknown")
    if found.local:
        remedy = f"Give this host an address of its own, for {peer.address} is that of {peer.host}"
        return bad(check, f"{_named(peer)} is this host itself", wanted, remedy)
    if found.interface == peer.interface:
        return passed(check, f"peers {wanted}")
    ours = {link["interface"] for link in view.want.links}
    if any({found.interface, peer.interface} <= set(halves) & ours for halves in view.ports.values()):
        return passed(check, f"peers by the other half, {found.interface}")
    remedy = f"See ip route get {peer.address}, and remove the route or the address that is in the way"
    return bad(check, f"{_named(peer)} leaves by {found.interface}", wanted, remedy)


def jumbo(view: View, peer: Peer) -> Check:
    """Whether packets of the fabric's size arrive and come back."""
    check, mtu = "network.jumbo", view.want.mtu
    cause = _cause(view, peer)
    here = view.interfaces.get(peer.interface)
    if not cause and here and 0 < here.mtu < mtu:
        cause = "network.mtu"
    if cause:
        return follows(check, cause)
    bad = failed if peer.must else warned
    wanted = f"an answer to {mtu} bytes"
    reach = ping.read(view.raw.output(_ping(peer)), peer.interface, peer.address, mtu)
    if reach.large:
        return passed(check, f"{mtu} bytes on {peer.interface}")
    if reach.small:
        remedy = f"Set MTU {mtu} at the end of {peer.host} and on every switch port between"
        found = f"{_named(peer)} answers small packets on {peer.interface} and not those of {mtu} bytes"
        return bad(check, found, wanted, remedy)
    if reach.problem and "unreachable" not in reach.problem.lower():
        return skipped(check, f"ping cannot be used here: {reach.problem}")
    found = f"{_named(peer)} does not answer on {peer.interface}"
    remedy = f"See network.interface and network.address of {peer.host}, and the cable between"
    if reach.known:
        return bad(check, found, wanted, f"{remedy}, and let its firewall pass what comes in by the fabric")
    return bad(check, f"{found}; nobody there has that address", wanted, remedy)


def silent(view: View) -> list[str]:
    """The peers that :func:`jumbo` finds fault with."""
    faults = [peer.host for peer in view.want.peers if jumbo(view, peer).status in (FAIL, WARN)]
    return sorted(set(faults))
