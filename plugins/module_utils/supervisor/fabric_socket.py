# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The UDP socket of a group. An edge. Links come and go under it; that is no fault of the socket."""

from __future__ import annotations

import contextlib
import socket

from .messages import Message, decode, encode
from .spec import Spec

# From <linux/in.h>; Python has no name for it before 3.13.
IP_FREEBIND = 15
DATAGRAM = 4096


class FabricSocket:
    """Sends to the peers and hears them. Not bound at first: :meth:`bind` is tried until it works."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._rank_at = {address: rank for rank, address in spec.peers.items()}
        self.socket: socket.socket | None = None

    def bind(self) -> str:
        """Bind to the rank's control address, which the host need not have yet; the error, or nothing."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sock.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
            sock.setblocking(False)
            sock.bind((self._spec.address, self._spec.group_port))
        except OSError as error:
            sock.close()
            return f"UDP {self._spec.address}:{self._spec.group_port} cannot be used: {error.strerror}"
        self.socket = sock
        return ""

    def say(self, message: Message) -> None:
        """Send to all peers; a link that is down drops it."""
        if self.socket is None:
            return
        datagram = encode(message)
        for address in self._spec.peers.values():
            with contextlib.suppress(OSError):
                self.socket.sendto(datagram, (address, self._spec.group_port))

    def hear(self) -> list[Message]:
        """All messages that have come, of this replica and from the address of the rank that they name."""
        messages: list[Message] = []
        while self.socket is not None:
            try:
                datagram, sender = self.socket.recvfrom(DATAGRAM)
            except OSError:
                # Nothing more, or an ICMP error of an earlier datagram: the peer does not listen yet.
                break
            message = decode(datagram)
            if (
                message is not None
                and message.replica == self._spec.replica
                and self._rank_at.get(sender[0]) == message.rank
            ):
                messages.append(message)
        return messages
