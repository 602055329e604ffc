# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge of the fabric's setup: the way in, the state that it keeps, and what is pinged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import host, revert
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.desired import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.seen import Device, Seen

NAME = "enp1s0f0np0"
NOW = Seen(
    interfaces={NAME: {"mac": "", "mtu": 9000, "up": True, "addresses": ["192.0.2.11/24"]}},
    devices={NAME: Device("connected", "98ce5f70", "Wired")},
    networkd=True,
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All of the host's paths, in a folder of the test."""
    folder = tmp_path / "var/fabric"
    folder.mkdir(parents=True)
    for name in ("PENDING", "BEFORE", "REVERTED"):
        monkeypatch.setattr(revert, name, folder / getattr(revert, name).name)
    monkeypatch.setattr(revert, "STATE", folder)
    for name in ("PROGRAM", "BOOT_UNIT", "BOOT_LINK"):
        monkeypatch.setattr(host, name, tmp_path / name / getattr(host, name).name)
    return folder


def answers(monkeypatch: pytest.MonkeyPatch, replies: dict[str, str]) -> list[str]:
    """Have commands answered by how they begin; gives the list of those that ran."""
    ran: list[str] = []

    def run(argv: Sequence[str]) -> tuple[int, str, str]:
        line = " ".join(argv)
        ran.append(line)
        return next(((0, out, "") for start, out in replies.items() if line.startswith(start)), (1, "", "no"))

    monkeypatch.setattr(revert, "run_process", run)
    return ran


def wanted() -> host.Wanted:
    return host.Wanted([{"interface": NAME, "address": "192.0.2.12/24"}], 9000, "auto", False, 60)


def test_the_way_back_is_armed_with_what_was_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = answers(monkeypatch, {"systemctl": "", "systemd-run": ""})
    ours = tmp_path / "ours.yaml"
    host.arm(wanted(), host.Change("netplan", {str(ours): "new"}, [], [], ["x"]), NOW, "the program")
    pending = revert.read_json(revert.PENDING)
    assert pending is not None
    assert pending["before"]["files"] == {str(ours): None}
    assert pending["before"]["interfaces"][NAME]["connection"] == "98ce5f70"
    assert pending["before"]["networkd"] is True
    assert host.PROGRAM.read_text() == "the program"
    assert host.BOOT_LINK.resolve() == host.BOOT_UNIT
    assert [line for line in ran if line.startswith("systemd-run") and "--on-active=60" in line]
    assert not ours.exists()


def test_without_a_timer_nothing_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, {"systemctl": ""})
    with pytest.raises(Refused, match=r"systemd takes no timer for the way back \(no\), so nothing was changed"):
        host.arm(wanted(), host.Change("netplan", {}, [], [], ["x"]), NOW, "")
    assert not revert.PENDING.exists()


def before(text: str | None, address: str) -> dict[str, Any]:
    return {"files": {"f": text}, "interfaces": {NAME: {"addresses": [address]}}, "networkd": False}


def test_the_undo_is_that_of_the_first_change(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, {"systemctl": ""})
    for address in ("192.0.2.1/24", "192.0.2.2/24"):
        revert.write_json(revert.PENDING, {"began": 1, "due": 2, "before": before(None, address)})
        host.keep()
    kept = revert.read_json(revert.BEFORE)
    assert kept is not None
    assert kept["interfaces"][NAME]["addresses"] == ["192.0.2.1/24"]
    assert not revert.PENDING.exists()


def test_a_change_that_was_taken_back_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, {})
    with pytest.raises(Refused, match="taken the change of its fabric back already"):
        host.keep()


def test_an_earlier_change_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    revert.write_json(revert.PENDING, {"began": 1, "due": time.time() + 40, "before": before(None, "192.0.2.1/24")})
    with pytest.raises(Refused, match=r"this host takes it back in (39|40) s. Run again after that"):
        host.unfinished(check=False)


def test_an_earlier_change_whose_timer_is_gone_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[bool] = []
    monkeypatch.setattr(revert, "revert", lambda _run, at_boot: done.append(at_boot))
    revert.write_json(revert.PENDING, {"began": 1, "due": 2, "before": before(None, "192.0.2.1/24")})
    host.unfinished(check=True)
    assert done == []
    host.unfinished(check=False)
    assert done == [False]


def test_the_undo_of_an_untouched_host_changes_nothing(state: Path) -> None:
    state.rmdir()
    assert host.absent(False, NOW) == (False, [])


def test_the_undo_is_refused_below_ranks() -> None:
    revert.write_json(revert.BEFORE, before(None, "192.0.2.1/24"))
    with pytest.raises(Refused, match="dgxspark-main-0-r0 runs over the fabric"):
        host.absent(False, Seen(ranks=["dgxspark-main-0-r0"]))
    assert revert.BEFORE.exists()
