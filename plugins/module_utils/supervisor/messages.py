# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The datagrams of a group: what one supervisor says to the others, once a second and at each change."""

from __future__ import annotations

import json
from dataclasses import dataclass

# A datagram must fit into one frame of any link; a reason is cut so that it does.
REASON_LENGTH = 500


@dataclass(frozen=True)
class Message:
    """:ivar order: what rank 0 wants of this epoch: ``stop``, ``start``, ``serve`` or ``down``; empty from other ranks
    :ivar pressure: the sender's host is short of memory
    :ivar reason: from a worker: why its run of this epoch ended, empty while it has not; from rank 0: why it orders so
    """

    replica: str
    generation: str
    rank: int
    epoch: int
    phase: str
    order: str = ""
    reason: str = ""
    pressure: bool = False


def encode(message: Message) -> bytes:
    """As bytes of a datagram, at most about 1 KiB."""
    data = {
        "replica": message.replica,
        "generation": message.generation,
        "rank": message.rank,
        "epoch": message.epoch,
        "phase": message.phase,
        "reason": message.reason[:REASON_LENGTH],
    }
    if message.order:
        data["order"] = message.order
    if message.pressure:
        data["pressure"] = True
    return json.dumps(data).encode()


def decode(datagram: bytes) -> Message | None:
    """The message of a datagram, or None when it is none of ours."""
    try:
        data = json.loads(datagram)
        return Message(
            replica=str(data["replica"]),
            generation=str(data["generation"]),
            rank=int(data["rank"]),
            epoch=int(data["epoch"]),
            phase=str(data["phase"]),
            order=str(data.get("order", "")),
            reason=str(data["reason"]),
            pressure=data.get("pressure") is True,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
