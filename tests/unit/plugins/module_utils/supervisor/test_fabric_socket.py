# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The UDP socket of a group, on loopback."""

from __future__ import annotations

import selectors
import socket
from dataclasses import replace

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.fabric_socket import FabricSocket
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.messages import Message, encode
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.pretended_group import make_spec

TOLD = Message("big-0", "0123456789ab", 1, 7, "serving")


def sockets() -> tuple[FabricSocket, socket.socket, tuple[str, int]]:
    """Rank 0 on 127.0.0.1, a bare socket in the place of rank 1 on 127.0.0.2, and where rank 0 hears."""
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.2", 0))
    port = peer.getsockname()[1]
    fabric = FabricSocket(replace(make_spec(0), address="127.0.0.1", peers={1: "127.0.0.2"}, group_port=port))
    assert fabric.bind() == ""
    return fabric, peer, ("127.0.0.1", port)


def hear(fabric: FabricSocket) -> list[Message]:
    assert fabric.socket is not None
    with selectors.DefaultSelector() as selector:
        selector.register(fabric.socket, selectors.EVENT_READ)
        assert selector.select(30)
    return fabric.hear()


def test_only_messages_of_the_group_are_heard() -> None:
    fabric, peer, address = sockets()
    with peer, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.0.9", 0))
        stranger.sendto(encode(TOLD), address)
        peer.sendto(b"garbage", address)
        peer.sendto(encode(replace(TOLD, replica="other-0")), address)
        peer.sendto(encode(replace(TOLD, rank=0)), address)
        # Another generation is heard, so that it can be named.
        peer.sendto(encode(replace(TOLD, generation="ba9876543210")), address)
        peer.sendto(encode(TOLD), address)
        heard = []
        while TOLD not in heard:
            heard += hear(fabric)
    assert [message.generation for message in heard] == ["ba9876543210", "0123456789ab"]


def test_what_is_said_reaches_the_peer() -> None:
    fabric, peer, address = sockets()
    with peer:
        fabric.say(TOLD)
        assert peer.recvfrom(4096) == (encode(TOLD), address)


def test_an_address_that_the_host_does_not_have_yet_is_no_fault() -> None:
    fabric = FabricSocket(replace(make_spec(0), address="192.0.2.1", peers={1: "192.0.2.2"}, group_port=0))
    assert fabric.bind() == ""
    fabric.say(TOLD)
    assert fabric.hear() == []


def test_a_port_that_is_taken_is_named() -> None:
    fabric, peer, _address = sockets()
    with peer:
        second = FabricSocket(fabric._spec)
        assert second.bind() == f"UDP 127.0.0.1:{fabric._spec.group_port} cannot be used: Address already in use"
