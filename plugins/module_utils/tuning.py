# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings for a host that serves a model over fast links. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl

SYSCTL: dict[str, str] = {
    # A stream of 100 Gb/s per twin with a round trip of some ms needs buffers far over the usual 208 KiB and 6 MiB; the
    # kernel takes only as much of the limit as a stream needs. They are ceilings for all sockets, in bytes.
    "net.core.rmem_max": "536870912",
    "net.core.wmem_max": "536870912",
    "net.ipv4.tcp_rmem": "4096 87380 536870912",
    "net.ipv4.tcp_wmem": "4096 65536 536870912",
    # Packets that may wait for a core: at 100 Gb/s the usual 1000 are there within a tenth of a millisecond.
    "net.core.netdev_max_backlog": "250000",
    # bbr paces what it sends, which fq does cheapest; links that are up keep the queue they have until they come anew.
    "net.core.default_qdisc": "fq",
    # Keeps the rate when some packets are lost, which one stream at these rates feels most.
    "net.ipv4.tcp_congestion_control": "bbr",
    # Finds the way out when a switch on the path swallows jumbo frames silently.
    "net.ipv4.tcp_mtu_probing": "1",
    # With swap in use unified memory makes the host unresponsive; should swap be on again, it comes last.
    "vm.swappiness": "1",
}
SYSCTL_PATH = "/etc/sysctl.d/zz-dgxspark-serving.conf"
MODULES_PATH = "/etc/modules-load.d/dgxspark-serving.conf"
BBR = "bbr"
BBR_MODULE = "tcp_bbr"
HEADER = "# Written by dgxspark.serving (playbook prepare); teardown --tags host removes it.\n"
MODULES_LOAD = f"{HEADER}{BBR_MODULE}\n"


def wanted_sysctl(overrides: Mapping[str, Any]) -> dict[str, str]:
    """The settings with a user's own, by key.

    :param overrides: values by key; None leaves a key as the host has it
    :raises ValueError: for a key or a value that cannot be one, with the text for the user
    """
    wanted = dict(SYSCTL)
    for key, value in overrides.items():
        if not sysctl.is_key(key):
            raise ValueError(f"'{key}' is no kernel setting. Write it as 'sysctl -a' does, such as net.core.rmem_max")
        for known in [known for known in wanted if sysctl.path_of(known) == sysctl.path_of(key)]:
            del wanted[known]
        if value is not None:
            wanted[key] = _value(key, value)
    return wanted


def _value(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    text = " ".join(str(value).split()) if isinstance(value, (str, int)) else ""
    if not text or sysctl.has_remark(text):
        raise ValueError(f"{key} is {value!r}. Give it a number or a text without a remark, or null to leave it alone")
    return text


def sysctl_file(settings: Mapping[str, str]) -> str:
    """Our file: one row for each key, nothing after a value (field faults S05 and S08)."""
    return HEADER + "".join(f"{key} = {settings[key]}\n" for key in sorted(settings))
