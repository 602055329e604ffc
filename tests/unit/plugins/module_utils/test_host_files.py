# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a host that are changed and put back."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import host_files
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Sources
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import RECORDS, HostFiles


def test_a_file_keeps_its_mode_and_no_part_is_left(tmp_path: Path) -> None:
    host = HostFiles(tmp_path)
    host.write("/etc/one", "a", 0o600)
    host.write("/etc/one", "b")
    assert stat.S_IMODE(host.path("/etc/one").stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "etc") == ["one"]
    assert (host.read("/etc/one"), host.read("/etc/two")) == ("b", None)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    host = HostFiles(tmp_path)
    host.write("/etc/real", "a")
    host.path("/etc/name").symlink_to("real")
    host.write("/etc/name", "b")
    assert host.path("/etc/name").is_symlink()
    assert host.read("/etc/real") == "b"


def test_a_file_that_is_mounted_over_is_written_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(source: Path, target: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    host = HostFiles(tmp_path)
    host.write("/etc/fstab", "a")
    monkeypatch.setattr(host_files.os, "replace", busy)
    host.write("/etc/fstab", "b")
    assert host.read("/etc/fstab") == "b"
    assert os.listdir(tmp_path / "etc") == ["fstab"]


def test_look_names_paths_as_the_host_does(tmp_path: Path) -> None:
    host = HostFiles(tmp_path)
    host.write("/etc/a.d/real.conf", "x")
    host.path("/etc/a.d/link.conf").symlink_to("real.conf")
    host.path("/etc/a.d/mask.conf").symlink_to("/dev/null")
    raw = host.look(Sources(("/etc/a.d/*.conf",), ("/etc/a.d/*.conf",), {"it": ("no-such-command-here",)}))
    assert raw.files == {"/etc/a.d/real.conf": "x", "/etc/a.d/link.conf": "x", "/etc/a.d/mask.conf": ""}
    assert raw.links["/etc/a.d/link.conf"] == "/etc/a.d/real.conf"
    assert raw.links["/etc/a.d/mask.conf"] == "/dev/null"
    assert raw.output("it").code == MISSING


def test_records_are_roots_alone_and_leave_no_folder(tmp_path: Path) -> None:
    host = HostFiles(tmp_path)
    host.keep("one", {"a": 1})
    assert stat.S_IMODE(host.path(RECORDS).stat().st_mode) == 0o700
    assert stat.S_IMODE(host.path(f"{RECORDS}/one.json").stat().st_mode) == 0o600
    host.keep("two", {})
    assert (host.record("one"), host.record("two"), host.record("three")) == ({"a": 1}, {}, None)
    host.forget("one")
    assert host.path(RECORDS).is_dir()
    host.forget("two")
    assert not host.path(RECORDS).parent.exists()


def test_a_command_speaks_english(tmp_path: Path) -> None:
    host = HostFiles(tmp_path)
    assert host.run(["sh", "-c", "echo $LC_ALL; exit 3"]).out == "C\n"
    assert host.run(["sh", "-c", "exit 3"]).code == 3
