# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states in which HAProxy's servers begin, and the program that takes them over when it is reloaded."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import haproxy_states

REPLICAS = [
    {"name": "chat-0", "address": "192.0.2.11", "port": 8000},
    {"name": "chat-1", "address": "spark2.example", "port": 8001},
]
DESCRIPTION = {"deployments": [{"name": "chat", "replicas": REPLICAS}]}
COLUMNS = 25  # of version 1 of the format, in HAProxy 2.6, 2.8 and 3.0


def test_all_begin_down_and_with_weight_0() -> None:
    version, comment, *lines = haproxy_states.states(DESCRIPTION).splitlines()
    assert version == "1"
    assert comment.startswith("#")
    fields = [line.split() for line in lines]
    assert {len(each) for each in fields} == {COLUMNS}
    assert [(each[1], each[3], each[4], each[17], each[18]) for each in fields] == [
        ("chat", "chat-0", "192.0.2.11", "-", "8000"),
        ("chat", "chat-1", "-", "spark2.example", "8001"),
    ]
    # Operational state 0 is down; weight now 0, weight in the configuration 1.
    assert {(each[5], each[7], each[8]) for each in fields} == {("0", "0", "1")}


@pytest.mark.parametrize(
    ("text", "is_one"), [("192.0.2.1", True), ("2001:db8::a", True), ("spark1", False), ("10.example", False)]
)
def test_addresses_and_names(text: str, is_one: bool) -> None:
    assert haproxy_states.is_address(text) is is_one


def _keep(folder: Path) -> list[str]:
    """Run the program, and return the lines of its result."""
    (folder / "keep.py").write_text(haproxy_states.PROGRAM, encoding="utf-8")
    (folder / "first").write_text(haproxy_states.states(DESCRIPTION), encoding="utf-8")
    command = [sys.executable, "-I", str(folder / "keep.py"), str(folder / "first"), str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "servers.state").read_text(encoding="utf-8").splitlines()


def _answer(path: Path, text: str) -> threading.Thread:
    """Be HAProxy for one question."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        with listener, listener.accept()[0] as client:
            assert client.recv(100) == b"show servers state\n"
            client.sendall(text.encode())

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_without_a_running_one_they_begin_anew(tmp_path: Path) -> None:
    assert _keep(tmp_path) == haproxy_states.states(DESCRIPTION).splitlines()


def test_a_running_ones_states_are_kept_unless_the_address_changed(tmp_path: Path) -> None:
    kept = "4 chat 1 chat-0 192.0.2.11 2 8 1 1 9 15 3 2 6 22 0 0 - 8000 - 0 29480 - - 29480"
    moved = "4 chat 2 chat-1 192.0.2.12 2 0 1 1 9 15 3 2 6 22 0 0 spark2.example 9999 - 0 29480 - - 29480"
    gone = kept.replace("chat-0", "chat-9")
    thread = _answer(tmp_path / "admin.sock", f"1\n# be_id be_name srv_id ...\n{gone}\n{kept}\n{moved}\n\n")
    lines = _keep(tmp_path)
    thread.join()
    first = haproxy_states.states(DESCRIPTION).splitlines()
    assert lines == [*first[:2], kept, first[3]]
