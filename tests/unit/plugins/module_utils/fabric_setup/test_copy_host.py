# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The copy keys' files on a host, and their undo."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import copy_host, copy_keys, revert

PEER: dict[str, Any] = {
    "host": "spark2",
    "addresses": ["192.0.2.12"],
    "public_key": "ssh-ed25519 AAAApeer x",
    "host_keys": ["ssh-ed25519 AAAAhost x"],
}


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The authorized_keys file of an account whose home is a folder of the test; the keys' folder is there."""
    folder = tmp_path / "etc/fabric"
    folder.mkdir(parents=True)
    monkeypatch.setattr(copy_host, "FOLDER", folder)
    for name in ("KEY", "PUBLIC", "KNOWN_HOSTS", "ACCOUNT"):
        monkeypatch.setattr(copy_host, name, folder / getattr(copy_host, name).name)
    me = pwd.getpwuid(os.getuid())
    owner = pwd.struct_passwd((me.pw_name, "x", me.pw_uid, me.pw_gid, "", str(tmp_path / "home"), ""))
    monkeypatch.setattr(copy_host, "account", lambda _name: owner)
    monkeypatch.setattr(copy_host.pwd, "getpwnam", lambda _name: owner)
    monkeypatch.setattr(copy_host.shutil, "which", lambda _name, path: "/usr/bin/rrsync")
    (tmp_path / "home").mkdir()
    return tmp_path / "home/.ssh/authorized_keys"


@pytest.mark.parametrize("text", ["ssh-ed25519 AAAAme me\n", "ssh-ed25519 AAAAme me", "", None])
def test_the_undo_leaves_the_account_byte_for_byte(keys: Path, text: str | None) -> None:
    if text is not None:
        keys.parent.mkdir()
        keys.write_text(text)
        keys.chmod(0o640)
    changed = copy_host.authorize("", "/srv/models", [PEER], check=False)
    assert [one["after_header"] for one in changed] == [str(copy_host.KNOWN_HOSTS), str(keys)]
    assert keys.read_text().startswith(text or "restrict,")
    assert copy_host.authorize("", "/srv/models", [PEER], check=False) == []
    assert copy_host.forget(check=False)
    assert (keys.read_text() if keys.exists() else None) == text
    if text is not None:
        assert keys.stat().st_mode & 0o7777 == 0o640
    assert not copy_host.FOLDER.exists()
    assert not copy_host.forget(check=False)


def test_a_dry_run_writes_nothing(keys: Path) -> None:
    assert copy_host.authorize("", "/srv/models", [PEER], check=True)
    assert (keys.exists(), list(copy_host.FOLDER.iterdir())) == (False, [])


def test_a_peer_without_a_key_yet_is_known_and_not_let_in(keys: Path) -> None:
    """Its key is made by the same run, which a dry run does not do."""
    copy_host.authorize("", "/srv/models", [{**PEER, "public_key": ""}], check=False)
    assert copy_host.KNOWN_HOSTS.read_text() == "192.0.2.12 ssh-ed25519 AAAAhost\n"
    assert not keys.exists()


def test_a_folder_is_that_of_the_account(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_host.os.path, "expanduser", lambda path: path.replace("~", "/home/"))
    copy_host.authorize("", "~/.cache/huggingface/hub", [PEER], check=False)
    name = pwd.getpwuid(os.getuid()).pw_name
    assert f"rrsync -ro -no-lock '/home/{name}/.cache/huggingface/hub'" in keys.read_text()


def test_a_host_without_rrsync_is_told_so(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_host.shutil, "which", lambda _name, path: None)
    with pytest.raises(revert.NotDone, match="There is no rrsync, which comes with the package rsync"):
        copy_host.authorize("", "/srv/models", [PEER], check=False)


def test_the_key_names_its_host(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(revert, "run_process", lambda argv: (ran.append(list(argv)), (0, "", ""))[1])
    assert copy_host.make_key("spark1", check=True)
    assert ran == []
    assert copy_host.make_key("spark1", check=False)
    assert copy_keys.comment("spark1") in ran[0]
