# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What really carried the data: counters of RDMA ports and of network interfaces before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

_PORT = "/sys/class/infiniband/{}/ports/1/counters/port_xmit_data"
_INTERFACE = "/sys/class/net/{}/statistics/tx_bytes"
# port_xmit_data counts words of four bytes.
WORD = 4


def sources(interfaces: Iterable[str], devices: Iterable[str]) -> Sources:
    """The files to read."""
    return Sources(files=(*map(_INTERFACE.format, interfaces), *map(_PORT.format, devices)))


def read(raw: Raw, interfaces: Iterable[str], devices: Iterable[str]) -> dict[str, int]:
    """Bytes that were sent so far, by interface and RDMA device; one that cannot be read is left out."""
    found = {}
    for names, pattern, unit in ((interfaces, _INTERFACE, 1), (devices, _PORT, WORD)):
        for name in names:
            text = raw.text(pattern.format(name))
            if text.isdigit():
                found[name] = int(text) * unit
    return found


def moved(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Bytes that were sent between two readings; a counter that was reset meanwhile is left out."""
    return {name: after[name] - bytes_ for name, bytes_ in before.items() if after.get(name, -1) >= bytes_}
