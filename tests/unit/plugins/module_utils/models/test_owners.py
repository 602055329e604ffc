# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may read and write a model."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import owners


def stat(uid: int, gid: int, mode: int) -> os.stat_result:
    """What a file of this owner and mode looks like."""
    return os.stat_result((0o100000 | mode, 1, 1, 1, uid, gid, 1, 1, 1, 1))


DEV = owners.Login("dev", 1000, frozenset({1000, 44}), "/home/dev")


@pytest.mark.parametrize(
    ("there", "wanted", "may"),
    [
        (stat(0, 0, 0o600), 4, False),
        (stat(0, 0, 0o644), 4, True),
        (stat(0, 0, 0o644), 2, False),
        (stat(1000, 0, 0o400), 4, True),
        (stat(1000, 0, 0o077), 4, False),
        (stat(0, 44, 0o640), 4, True),
        (stat(0, 44, 0o604), 4, False),
        (stat(0, 0, 0o755), 5, True),
        (stat(0, 0, 0o754), 5, False),
    ],
)
def test_by_mode_m02(there: os.stat_result, wanted: int, may: bool) -> None:
    assert owners.by_mode(there, DEV, wanted) is may
    assert owners.by_mode(there, owners.Login("root", 0, frozenset({0}), "/root"), wanted)


def test_the_login_without_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    monkeypatch.delenv("SUDO_USER", raising=False)
    user = owners.login()
    assert (user.uid, user.home) == (os.geteuid(), "/somewhere")
    assert os.getegid() in user.gids


def test_under_sudo_the_login_is_not_root_m03(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    monkeypatch.setenv("SUDO_USER", getpass.getuser())
    user = owners.login()
    assert (user.name, user.home) == (getpass.getuser(), str(Path(f"~{getpass.getuser()}").expanduser()))
    monkeypatch.setenv("SUDO_USER", "nobody-of-this-name")
    assert owners.login().home == "/root"


def test_a_user_without_a_name() -> None:
    assert owners.name_of(os.geteuid()) == getpass.getuser()
    assert owners.name_of(2**31 - 7) == str(2**31 - 7)


def test_unreadable_and_foreign_m02(tmp_path: Path) -> None:
    me, other = owners.name_of(os.geteuid()), owners.Login("dev", os.geteuid() + 1, frozenset(), "/")
    for name, mode in (("closed", 0o600), ("open", 0o644), ("all", 0o666)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to("open")
    tmp_path.chmod(0o755)
    closed, opened = str(tmp_path / "closed"), str(tmp_path / "open")
    assert owners.unreadable([closed, opened, str(tmp_path), "/not/there"], other) == [
        f"{closed} (owner {me}, mode 0600)"
    ]
    assert set(owners.foreign([str(tmp_path), "/not/there"], other)) == {str(tmp_path), closed, opened}
    assert not owners.foreign([str(tmp_path)], owners.login())


def test_writable(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    other = owners.Login("dev", os.geteuid() + 1, frozenset(), "/")
    below = str(tmp_path / "not" / "there")
    assert owners.writable([below], owners.login())
    assert not owners.writable([below], other)
    tmp_path.chmod(0o777)
    assert owners.writable([below, str(tmp_path)], other)
