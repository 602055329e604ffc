# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports that are taken, from what the kernel says."""

from __future__ import annotations

import ipaddress

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import ports

# Real lines of a host: sshd on all addresses, a resolver on 127.0.0.53, and an established connection.
TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 21301
   1: 3500007F:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101        0 18804
   2: 0B0200C0:0016 010200C0:D2F2 01 00000000:00000000 02:00094B5A 00000000     0        0 40122
   3: 0B0200C0:733C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 55100
"""
Z = "0" * 32
TCP6 = f"""\
  sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: {Z}:0016 {Z}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 21312
   1: 00000000000000000000000001000000:1F40 {Z}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 66001
   2: 0000000000000000FFFF00000B0200C0:1F41 {Z}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 66002
"""


def test_sockets_that_listen() -> None:
    found = ports.listeners(TCP) + ports.listeners(TCP6)
    assert [(str(one.address), one.port, one.inode) for one in found] == [
        ("0.0.0.0", 22, 21301),
        ("127.0.0.53", 53, 18804),
        ("192.0.2.11", 29500, 55100),
        ("::", 22, 21312),
        ("::1", 8000, 66001),
        ("192.0.2.11", 8001, 66002),
    ]


@pytest.mark.parametrize(
    ("wanted", "taken", "expected"),
    [
        ("0.0.0.0", "127.0.0.1", True),
        ("0.0.0.0", "::", True),
        ("0.0.0.0", "::1", False),
        ("::", "127.0.0.1", True),
        ("::", "::1", True),
        ("192.0.2.11", "0.0.0.0", True),
        ("192.0.2.11", "::", True),
        ("192.0.2.11", "192.0.2.11", True),
        ("192.0.2.11", "192.0.2.12", False),
        ("::1", "0.0.0.0", False),
    ],
)
def test_clashes(wanted: str, taken: str, expected: bool) -> None:
    assert ports.clashes(wanted, ipaddress.ip_address(taken)) is expected


@pytest.mark.parametrize(
    ("cgroup", "expected"),
    [
        ("0::/system.slice/ssh.service\n", ""),
        (f"0::/system.slice/docker-{'ab' * 32}.scope\n", "ab" * 32),
        (f"12:pids:/docker/{'0' * 64}/docker/{'cd' * 32}\n", "cd" * 32),
        ("", ""),
    ],
)
def test_the_container_of_a_process(cgroup: str, expected: str) -> None:
    assert ports.container_id(cgroup) == expected
