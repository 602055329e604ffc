# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How peers are asked over the fabric."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import ping

NAME = "enp1s0f0np0"


def test_peers_are_asked_by_interface_and_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole frame is what the MTU takes less 28 bytes of headers, 48 with IPv6."""
    asked: list[list[str]] = []

    class Ping:
        def __init__(self, argv: list[str], **_options: Any) -> None:
            asked.append(argv)
            self.small = "-s" not in argv

        def wait(self) -> int:
            return 0 if self.small else 1

    monkeypatch.setattr(ping.subprocess, "Popen", Ping)
    peers = [
        {"host": "spark2", "address": "192.0.2.12", "interface": NAME, "source": "192.0.2.11"},
        {"host": "spark3", "address": "2001:db8::3", "interface": NAME, "source": "2001:db8::1"},
    ]
    silent = ping.silent(peers, 9000, 0)
    assert [(peer["host"], peer["small"]) for peer in silent] == [("spark2", True), ("spark3", True)]
    whole = ["-M", "do", "-s"]
    assert [argv[argv.index("-s") + 1] for argv in asked if whole[0] in argv][:2] == ["8972", "8952"]
    assert all(argv[-5:-1] == ["-I", NAME, "-I", peer["source"]] for argv, peer in zip(asked, peers, strict=False))
