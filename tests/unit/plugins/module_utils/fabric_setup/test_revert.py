# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back: files, live state, and a state folder that only tells of what is still to be done."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import revert

NAME = "enp1s0f0np0"


class PretendedNetwork:
    """Answers the commands; ``active`` are the units that run."""

    def __init__(self, active: set[str]) -> None:
        self.active = active
        self.mtu, self.up, self.addresses = 1500, True, ["192.0.2.99/24"]
        self.ran: list[str] = []

    def __call__(self, argv: Sequence[str]) -> tuple[int, str, str]:
        words = list(argv)
        if words[:2] == ["ip", "-json"]:
            pairs = [one.split("/") for one in self.addresses]
            info = [{"local": address, "prefixlen": int(length)} for address, length in pairs]
            row = {"ifname": NAME, "mtu": self.mtu, "flags": ["UP"] if self.up else [], "addr_info": info}
            return 0, json.dumps([row]), ""
        if words[:2] == ["systemctl", "is-active"]:
            return (0 if words[-1].partition(".")[0] in self.active else 3), "", ""
        self.ran.append(" ".join(words))
        if words[:3] == ["ip", "link", "set"] and "mtu" in words:
            self.mtu = int(words[-1])
        elif words[:3] == ["ip", "link", "set"]:
            self.up = words[-1] == "up"
        elif words[:3] == ["ip", "address", "delete"]:
            self.addresses.remove(words[3])
        elif words[:3] == ["ip", "address", "add"]:
            self.addresses.append(words[3])
        return 0, "", ""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PENDING", "BEFORE", "REVERTED"):
        monkeypatch.setattr(revert, name, tmp_path / getattr(revert, name).name)
    monkeypatch.setattr(revert, "STATE", tmp_path)
    monkeypatch.setattr(revert, "GENERATORS", ())
    monkeypatch.setattr(revert.time, "sleep", lambda _seconds: None)
    return tmp_path


def before(files: dict[str, Any] | None = None, networkd: bool = False, connection: str = "") -> dict[str, Any]:
    was = {"mac": "", "mtu": 9000, "up": True, "addresses": ["192.0.2.11/24"], "connection": connection}
    return {"files": files or {}, "interfaces": {NAME: was}, "networkd": networkd}


def test_the_program_needs_nothing_but_the_standard_library() -> None:
    """It lies alone on a host."""
    tree = ast.parse(Path(revert.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)} | {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    assert {str(module).partition(".")[0] for module in modules} <= set(sys.stdlib_module_names)


def test_files_come_back_byte_for_byte(tmp_path: Path) -> None:
    old, new = tmp_path / "40-cx7.yaml", tmp_path / "90-ours.yaml"
    old.write_bytes(b"\ttabs \xff\n")
    old.chmod(0o640)
    was = {str(path): revert.file_state(path) for path in (old, new)}
    old.write_bytes(b"changed")
    old.chmod(0o600)
    new.write_bytes(b"new")
    revert.restore_files(was)
    assert (old.read_bytes(), old.stat().st_mode & 0o7777, new.exists()) == (b"\ttabs \xff\n", 0o640, False)


def test_a_change_that_nobody_confirms_is_taken_back(state: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours.yaml"
    ours.write_text("new")
    revert.write_json(revert.PENDING, {"began": 1.0, "due": 2.0, "before": before({str(ours): None})})
    network = PretendedNetwork({"systemd-networkd"})
    assert revert.revert(network, at_boot=False)
    assert (network.mtu, network.addresses) == (9000, ["192.0.2.11/24"])
    assert not ours.exists()
    assert not revert.PENDING.exists()
    assert revert.REVERTED.exists()
    # networkd was not there before; the timer ends its own looks.
    assert "systemctl stop systemd-networkd.socket systemd-networkd.service" in network.ran
    assert network.ran[-1] == "systemctl stop dgxspark-fabric-revert.timer"


def test_a_kept_change_is_not_taken_back(state: Path) -> None:
    network = PretendedNetwork(set())
    assert not revert.revert(network, at_boot=False)
    assert network.ran == ["systemctl stop dgxspark-fabric-revert.timer"]


def test_before_the_network_starts_only_files_come_back(state: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours.yaml"
    ours.write_text("new")
    revert.write_json(revert.PENDING, {"began": 1.0, "due": 2.0, "before": before({str(ours): None})})
    network = PretendedNetwork(set())
    assert revert.revert(network, at_boot=True)
    assert (ours.exists(), network.ran) == (False, [])


def test_d08_the_managers_take_their_files_up_without_a_daemon_reload(state: Path) -> None:
    """A daemon-reload takes the GPU from running containers; `netplan apply` and `netplan generate` do one."""
    network = PretendedNetwork({"systemd-networkd", "NetworkManager"})
    revert.put_back(network, before(networkd=True, connection="98ce5f70"))
    assert network.ran[:4] == [
        "nmcli connection reload",
        "networkctl reload",
        f"networkctl reconfigure {NAME}",
        "nmcli connection up uuid 98ce5f70",
    ]
    assert not [line for line in network.ran if "daemon-reload" in line or line.startswith("netplan")]


def test_a_manager_that_takes_an_address_away_again_is_corrected(state: Path) -> None:
    network = PretendedNetwork({"systemd-networkd"})
    looks = 0

    def run(argv: Sequence[str]) -> tuple[int, str, str]:
        nonlocal looks
        if list(argv)[:2] == ["ip", "-json"]:
            looks += 1
            if looks == 2:
                network.addresses.clear()
        return network(argv)

    revert.put_back(run, before(networkd=True))
    assert network.addresses == ["192.0.2.11/24"]


def test_a_failing_command_leaves_the_change_for_the_next_look(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    revert.write_json(revert.PENDING, {"began": 1.0, "due": 2.0, "before": before(networkd=True)})
    network = PretendedNetwork({"systemd-networkd"})
    monkeypatch.setattr(
        revert, "run_process", lambda argv: (1, "", "no bus") if argv[0] == "networkctl" else network(argv)
    )
    assert revert.main(["due"]) == 1
    assert revert.PENDING.exists()
    assert capsys.readouterr().err == (
        "The fabric's old configuration is not back yet: 'networkctl reload' failed with code 1: no bus\n"
    )


@pytest.mark.parametrize(("address", "more"), [("192.0.2.11/24", ["broadcast", "+"]), ("2001:db8::11/64", [])])
def test_addresses_get_a_broadcast_address_where_there_is_one(address: str, more: list[str]) -> None:
    assert revert.broadcast(address) == more
