# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models in real folders."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import look

SHARD = b"\x02\x00\x00\x00\x00\x00\x00\x00{}"


def repository(root: Path) -> Path:
    folder = root / "models--org--name"
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc\n")
    return folder


def complete(folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(SHARD)


def test_a_path(tmp_path: Path) -> None:
    complete(tmp_path)
    assert look.look(str(tmp_path), "") == look.Found(str(tmp_path), str(tmp_path), str(tmp_path), [])


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    assert look.look(path, "").problems == [f"no folder {path}"]


def test_neither_a_path_nor_an_id() -> None:
    with pytest.raises(ValueError):
        look.look("no id", "")


def test_an_id_is_found_in_the_users_cache_on_this_host_m03(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    folder = repository(tmp_path)
    found = look.look("org/name", "")
    assert (found.path, found.mount) == (str(folder / "snapshots" / "abc"), str(tmp_path))


def test_an_id_without_a_snapshot(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    (folder / "refs" / "main").write_text("other")
    assert look.look("org/name", str(tmp_path)).problems == [f"no snapshot in {folder} that refs/main names"]


def test_links_are_followed(tmp_path: Path) -> None:
    complete(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "blob")
    (tmp_path / "model.safetensors").symlink_to("blob")
    assert look.look(str(tmp_path), "").problems == []
    (tmp_path / "blob").unlink()
    assert look.look(str(tmp_path), "").problems != []


def test_a_shard_that_the_index_names(tmp_path: Path) -> None:
    complete(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "a.safetensors"}}))
    assert "a.safetensors" in " ".join(look.look(str(tmp_path), "").problems)


def test_under_sudo_the_home_is_that_of_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    monkeypatch.delenv("SUDO_USER", raising=False)
    assert look.login_home() == "/somewhere"
    monkeypatch.setenv("SUDO_USER", "nobody-of-this-name")
    assert look.login_home() == "/somewhere"
    monkeypatch.setenv("SUDO_USER", getpass.getuser())
    assert look.login_home() == str(Path(f"~{getpass.getuser()}").expanduser())
