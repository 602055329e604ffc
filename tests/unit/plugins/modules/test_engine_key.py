# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine key's file, and the module that keeps it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import engine_key as edge
from ansible_collections.dgxspark.serving.plugins.modules import engine_key
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule

KEY = "example-engine-key"


class Trial:
    """Calls of the module on one file."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.monkeypatch = monkeypatch

    def call(self, state: str = "read", key: str | None = None, check_mode: bool = False, root: bool = True) -> Any:
        params = {"state": state, "key": key, "path": str(self.path)}
        self.monkeypatch.setattr(engine_key, "AnsibleModule", lambda **arguments: FakeModule(params, check_mode))
        self.monkeypatch.setattr(engine_key, "is_root", lambda: root)
        with pytest.raises(Ended) as ended:
            engine_key.main()
        return ended.value.result

    @property
    def mode(self) -> int:
        return self.path.stat().st_mode & 0o7777


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    return Trial(tmp_path / "dgxspark-serving" / "engine.key", monkeypatch)


def test_written_read_and_removed(trial: Trial) -> None:
    assert trial.call() == {"changed": False, "found": False, "key": ""}
    assert trial.call("absent") == {"changed": False}
    assert trial.call("present", KEY) == {"changed": True}
    assert (trial.path.read_text(encoding="ascii"), trial.mode) == (f"{KEY}\n", 0o600)
    assert trial.call("present", KEY) == {"changed": False}
    assert trial.call() == {"changed": False, "found": True, "key": KEY}
    assert trial.call("present", f"{KEY}2") == {"changed": True}
    assert trial.call()["key"] == f"{KEY}2"
    assert trial.call("absent") == {"changed": True}
    assert [trial.path.exists(), *trial.path.parent.iterdir()] == [False]


def test_check_mode_says_what_would_change_and_leaves_it(trial: Trial) -> None:
    assert trial.call("present", KEY, check_mode=True) == {"changed": True}
    assert not trial.path.parent.exists()
    trial.call("present", KEY)
    assert trial.call("present", f"{KEY}2", check_mode=True) == {"changed": True}
    assert trial.call("absent", check_mode=True) == {"changed": True}
    assert trial.call()["key"] == KEY


def test_a_key_that_others_can_read_is_written_anew(trial: Trial) -> None:
    trial.call("present", KEY)
    trial.path.chmod(0o644)
    assert trial.call("present", KEY) == {"changed": True}
    assert trial.mode == 0o600


def test_others_can_read_it_at_no_moment(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    whole = os.replace

    def replace(part: Path, path: Path) -> None:
        modes.append(part.stat().st_mode & 0o7777)
        whole(part, path)

    monkeypatch.setattr(edge.os, "replace", replace)
    old = os.umask(0)
    try:
        trial.call("present", KEY)
    finally:
        os.umask(old)
    assert modes == [0o600]


@pytest.mark.parametrize(
    "key", ["", "short", "has a blank in the midst", 'has-a-"quote"-inside', "two-keys-in-one\nfile", "é" * 20]
)
def test_what_no_key_can_be_is_refused_unseen(trial: Trial, key: str) -> None:
    result = trial.call("present", key)
    assert result["failed"]
    assert result["msg"].startswith(f"The given key cannot be one: it has {len(key)} characters")
    assert not key or key not in result["msg"]
    assert not trial.path.exists()


def test_a_file_without_a_key_is_named_unseen(trial: Trial) -> None:
    trial.path.parent.mkdir()
    trial.path.write_text("a secret sentence of somebody", encoding="utf-8")
    result = trial.call()
    assert result["failed"]
    assert result["msg"].startswith(f"{trial.path} does not hold a key: it has 29 characters")
    assert "sentence" not in result["msg"]


def test_only_root(trial: Trial) -> None:
    result = trial.call(root=False)
    assert result["msg"] == "The engine key is for root alone. Set become: true for this task."


def test_a_disk_that_refuses(trial: Trial) -> None:
    trial.path.parent.write_text("a file where the folder is to be", encoding="utf-8")
    result = trial.call("present", KEY)
    assert result["msg"].startswith("The engine key cannot be kept: ")
