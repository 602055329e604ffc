# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric links of all hosts of a group, as the inventory has them."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import read_links
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable


def fabric_links(task_vars: Mapping[str, Any], group: str) -> tuple[dict[str, list[dict[str, str]]], list[Fault]]:
    """Read ``fabric_links`` of every host of a group.

    :returns: the links of each host, and what is wrong with what is written there
    """
    known: dict[str, list[dict[str, str]]] = {}
    faults: list[Fault] = []
    for host in dict.fromkeys([*task_vars["groups"].get(group, []), task_vars["inventory_hostname"]]):
        links, wrong = read_links(variable(task_vars["hostvars"][host], "fabric_links"), host)
        # As the kernel writes it, so that it is found again there.
        known[host] = [{**link, "address": str(ipaddress.ip_interface(link["address"]))} for link in links]
        faults += wrong
    return known, faults
