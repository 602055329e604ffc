# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes requests to connections. An edge."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.framing import Ending
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.head import request_head
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import Door, Link
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply


def write(door: Door, link: Link, reply: Reply, clock: float) -> None:
    """Begin a request on an open connection; what does not fit goes out when the server has read."""
    ask = reply.ask
    accept = "text/event-stream" if ask.stream else "application/json"
    head = request_head(door.target, door.place, ask.path, len(ask.body), accept=accept)
    link.reply, link.ending, link.out = reply, Ending(reply.raw), memoryview(head + ask.body)
    write_on(link, reply, clock)


def write_on(link: Link, reply: Reply, clock: float) -> None:
    """Write what is left of a request, and stamp its end."""
    try:
        stamp = link.write()
    except OSError:
        # The server has closed its side; what it said before stands in the way to here and is read first.
        link.out = None
        return
    if stamp is not None:
        reply.t_write = link.last = stamp - clock
