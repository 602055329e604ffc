# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what sets an interface's address at boot sets the one that is wanted."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    needs_become,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.network_view import Link, View, follows
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import network_manager

_REMEDY = "Run the playbook prepare with the tag fabric, which sets it for good"


def manager(view: View, link: Link) -> Check:
    """Who owns an interface, and whether its address is there after a restart of that."""
    check, name, address = "network.manager", link["interface"], link["address"]
    here = view.interfaces.get(name)
    if here is None:
        return follows(check, "network.interface")
    if not view.has(link):
        return follows(check, "network.address")
    owner = network_manager.owner(view.raw, here.index)
    wanted = f"{address} in the profile of {name}"
    if owner.foreign:
        return warned(check, f"{address} on {name} is in no profile: it is gone after a reboot", wanted, _REMEDY)
    if not owner.by:
        return skipped(check, f"neither NetworkManager nor systemd-networkd manages {name}")
    if owner.addresses is None:
        if not view.want.root:
            return needs_become(check)
        return skipped(check, f"{name} has the profile {owner.profile} of {owner.by}, which cannot be read")
    if address in owner.addresses:
        return passed(check, f"{name} by {owner.by}, {owner.profile}")
    profile = f"the profile {owner.profile}" if owner.profile else "no profile"
    found = f"{owner.by} manages {name} with {profile}, without {address}: it may take it away"
    return warned(check, found, wanted, _REMEDY)
