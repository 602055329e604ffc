# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host says of itself."""

from __future__ import annotations

import os
import socket

from ansible_collections.dgxspark.serving.plugins.module_utils import host_look

IP = """[{"ifindex":1,"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8}]},{},
{"ifname":"enp1s0f0np0","mtu":9000,"addr_info":[{"family":"inet","local":"192.0.2.11","prefixlen":24},
{"family":"inet6","local":"fe80::1","prefixlen":64}]},{"ifname":"enP2p1s0f0np0","addr_info":[]}]"""


def test_addresses_of_interfaces() -> None:
    expected = {"lo": ["127.0.0.1"], "enp1s0f0np0": ["192.0.2.11", "fe80::1"], "enP2p1s0f0np0": []}
    assert host_look.addresses(lambda argv: (0, IP, "")) == expected
    assert host_look.addresses(lambda argv: (127, "", "no ip")) == {}


def test_the_owner_of_a_socket_is_found_in_proc() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        [mine] = [one for one in host_look.listeners() if one.port == port]
        assert str(mine.address) == "127.0.0.1"
        assert host_look.owners({mine.inode})[mine.inode].pid == os.getpid()
    assert host_look.memory().total > host_look.memory().available > 0
