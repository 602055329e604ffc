# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether another host answers on one interface, to packets of the fabric's size and to small ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import ip_json
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output

# Bytes of ICMP, and of the IP header before it.
_ICMP, _IPV4, _IPV6 = 8, 20, 40

# The small packet is sent only when the large one gets no answer, and the hardware address is asked for only when
# neither does: a healthy host costs one packet. One that is lost is sent again, for two seconds.
_PING = 'ping -n -c 1 -w 2 -i 0.5 -I "$1"'
_SCRIPT = f'{_PING} -M do -s "$2" "$3" || {_PING} -s 56 "$3" || ip -json neigh show to "$3" dev "$1"'
_ANSWER = re.compile(r"(?m)^(\d+) bytes from ")


@dataclass(frozen=True)
class Reach:
    """What came back.

    :ivar large: whether packets of the full size do
    :ivar small: whether small ones do
    :ivar known: whether at least its hardware address is known, maybe from a while ago
    :ivar problem: why nothing could be sent; empty when it could
    """

    large: bool = False
    small: bool = False
    known: bool = False
    problem: str = ""


def command(interface: str, address: str, mtu: int) -> tuple[str, ...]:
    """What to run for one peer.

    :param mtu: size of a whole packet in bytes
    """
    return ("sh", "-c", _SCRIPT, "sh", interface, str(_data(address, mtu)), address)


def read(output: Output, interface: str, address: str, mtu: int) -> Reach:
    """Read what :func:`command` gave."""
    answers = [int(size) for size in _ANSWER.findall(output.out)]
    if answers:
        return Reach(max(answers) >= _data(address, mtu) + _ICMP, True, True)
    if "PING " not in output.out:
        # The kernel, or the lack of the program, speaks before anything is sent.
        return Reach(problem=output.err.strip().partition("\n")[0] or "no answer from ping")
    rows = ip_json.neighbours(output.out.strip().rpartition("\n")[2], interface, address)
    return Reach(known=any(row.reachable and row.interface == interface for row in rows))


def _data(address: str, mtu: int) -> int:
    return mtu - _ICMP - (_IPV6 if ":" in address else _IPV4)
