# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings for a moment, on a root of its own."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import kernel_settings
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.kernel_settings import KEPT, Trial
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles

CONGESTION = "net.ipv4.tcp_congestion_control"
RMEM = "net.ipv4.tcp_rmem"
KERNEL = {CONGESTION: "reno", RMEM: "4096\t131072\t6291456"}
PREPARED = {CONGESTION: "bbr", RMEM: "4096 87380 536870912", "net.core.rmem_max": "1", "vm.swappiness": "1"}


def path(root: Path, key: str) -> Path:
    return root / "proc/sys" / key.replace(".", "/")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for key, value in {**KERNEL, "vm.swappiness": "60"}.items():
        path(tmp_path, key).parent.mkdir(parents=True, exist_ok=True)
        path(tmp_path, key).write_text(f"{value}\n")
    return tmp_path


@pytest.fixture
def guards(monkeypatch: pytest.MonkeyPatch) -> list:
    """What would wait in a process of its own."""
    found: list = []
    monkeypatch.setattr(kernel_settings, "detached", found.append)
    return found


def values(root: Path) -> dict[str, str]:
    return {key: path(root, key).read_text().strip() for key in KERNEL}


def test_settings_come_and_go(root: Path, guards: list) -> None:
    trial = Trial(HostFiles(root))
    # What is not about TCP is not tried, nor what this kernel does not have.
    assert set(trial.set(PREPARED, 60)) == {CONGESTION, RMEM}
    assert values(root) == {CONGESTION: "bbr", RMEM: "4096 87380 536870912"}
    assert path(root, "vm.swappiness").read_text() == "60\n"
    assert trial.restore()
    assert values(root) == KERNEL
    assert not (root / KEPT[1:]).exists()
    assert not trial.restore()
    assert len(guards) == 1


def test_the_first_values_are_kept_over_two_trials(root: Path, guards: list) -> None:
    trial = Trial(HostFiles(root))
    trial.set({CONGESTION: "cubic"}, 60)
    trial.set(PREPARED, 60)
    assert len(guards) == 1
    Trial(HostFiles(root)).restore()
    assert values(root) == KERNEL


def test_a_guard_is_armed_before_anything_changes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []
    monkeypatch.setattr(kernel_settings, "detached", lambda _work: seen.append(values(root)))
    Trial(HostFiles(root)).set(PREPARED, 60)
    assert seen == [KERNEL]


def test_the_guard_puts_them_back_when_nobody_else_does(root: Path, guards: list) -> None:
    Trial(HostFiles(root)).set(PREPARED, 0)
    guards[0]()
    assert values(root) == KERNEL


def test_the_guard_ends_when_they_are_back(root: Path, guards: list, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(HostFiles(root))
    trial.set(PREPARED, 600)
    monkeypatch.setattr(kernel_settings.time, "sleep", lambda _seconds: trial.restore())
    start = time.monotonic()
    guards[0]()
    assert time.monotonic() - start < 300
    assert values(root) == KERNEL


def test_before_prepare_is_what_prepare_has_kept(root: Path) -> None:
    record = root / "var/lib/dgxspark-serving/host/sysctl.json"
    record.parent.mkdir(parents=True)
    kept = {CONGESTION: {"was": "cubic", "set": "bbr"}, "vm.swappiness": {"was": "60", "set": "1"}}
    record.write_text(json.dumps(kept))
    assert Trial(HostFiles(root)).before_prepare() == {CONGESTION: "cubic"}
    assert kernel_settings.kernels_own(None) == {}
