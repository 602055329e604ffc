# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which interfaces Ansible came in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import revert, way_in

NAME = "enp1s0f0np0"
ADDRESS = f'[{{"ifname": "{NAME}", "addr_info": [{{"local": "192.0.2.11", "prefixlen": 24, "scope": "global"}}]}}]'


@pytest.mark.parametrize(
    ("ssh", "replies", "found"),
    [
        ("198.51.100.9 5022 192.0.2.11 22", {"ip -json": ADDRESS}, {NAME: "its address is 192.0.2.11"}),
        (
            "198.51.100.9 5022 203.0.113.5 22",
            {"ip -json": ADDRESS, "ip route get 198.51.100.9": "198.51.100.9 via 192.0.2.1 dev enP7s7 src 192.0.2.2"},
            {"enP7s7": "the way back to 198.51.100.9"},
        ),
        (
            "",
            {"ip route show default": "default via 192.0.2.1 dev wlP9s9"},
            {"wlP9s9": "the default route leaves by it"},
        ),
        ("", {"ip route show default": ""}, {}),
    ],
)
def test_the_way_in(monkeypatch: pytest.MonkeyPatch, ssh: str, replies: dict[str, str], found: dict[str, str]) -> None:
    monkeypatch.setattr(way_in, "_ssh_connection", lambda: ssh)

    def run(argv: Sequence[str]) -> tuple[int, str, str]:
        line = " ".join(argv)
        return next(((0, out, "") for start, out in replies.items() if line.startswith(start)), (1, "", "no"))

    monkeypatch.setattr(revert, "run_process", run)
    assert way_in.interfaces() == found
