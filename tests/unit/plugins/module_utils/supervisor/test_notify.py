# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd is told."""

from __future__ import annotations

import socket
import tempfile

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.notify import Notifier


def test_systemd_hears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # Under /tmp whatever TMPDIR says: the path of a Unix socket is short.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(f"{folder}/notify")
        monkeypatch.setenv("NOTIFY_SOCKET", f"{folder}/notify")
        Notifier().tell("READY=1", "STATUS=serving")
        assert systemd.recv(4096) == b"READY=1\nSTATUS=serving"


@pytest.mark.parametrize("address", ["", "/nowhere/notify", "@nobody"])
def test_a_systemd_that_is_not_there_is_no_fault(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    Notifier().tell("READY=1")
