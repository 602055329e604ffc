# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of what was, in a folder that stands for the host."""

from __future__ import annotations

import stat
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import RECORDS, HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.record import Setup

DAEMON = "/etc/docker/daemon.json"
DROP_IN = "/etc/systemd/system/ssh.service.d/50-dgxspark-serving.conf"
# Not UTF-8, no last line end.
OLD = b'{"debug":\ttrue, "note": "\xe9"}'


def host(tmp_path: Path) -> Setup:
    """A host with a daemon.json of its own."""
    daemon = tmp_path / DAEMON.lstrip("/")
    daemon.parent.mkdir(parents=True)
    daemon.write_bytes(OLD)
    daemon.chmod(0o640)
    return Setup(HostFiles(tmp_path))


def test_all_comes_back_byte_for_byte(tmp_path: Path) -> None:
    setup = host(tmp_path)
    setup.remember([DAEMON, DROP_IN], {"group:dev": True})
    setup.files.write(DROP_IN, "[Service]\n")
    daemon = tmp_path / DAEMON.lstrip("/")
    daemon.unlink()
    setup.files.write(DAEMON, "{}")
    setup.restore()
    assert daemon.read_bytes() == OLD
    assert stat.S_IMODE(daemon.stat().st_mode) == 0o640
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [daemon]
    assert not (tmp_path / DROP_IN.lstrip("/")).parent.exists()


def test_what_was_kept_first_stays(tmp_path: Path) -> None:
    setup = host(tmp_path)
    setup.remember([DAEMON], {"score:docker.service": -500})
    setup.files.write(DAEMON, "{}")
    setup.remember([DAEMON, DROP_IN], {"score:docker.service": -900, "clock": True})
    record = setup.read()
    assert record["notes"] == {"score:docker.service": -500, "clock": True}
    assert record["files"][DAEMON]["text"].encode("utf-8", "surrogateescape") == OLD
    assert record["files"][DROP_IN] == {"text": None, "folder": False}


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    setup = host(tmp_path)
    folder = (tmp_path / DROP_IN.lstrip("/")).parent
    folder.mkdir(parents=True)
    setup.remember([DROP_IN], {})
    setup.files.write(DROP_IN, "[Service]\n")
    setup.restore()
    assert list(folder.iterdir()) == []


def test_a_folder_in_which_others_have_files_stays(tmp_path: Path) -> None:
    setup = host(tmp_path)
    setup.remember([DROP_IN], {})
    setup.files.write(DROP_IN, "[Service]\n")
    other = (tmp_path / DROP_IN.lstrip("/")).with_name("other.conf")
    other.write_text("[Service]\n", encoding="utf-8")
    setup.restore()
    assert other.exists()


def test_a_dropped_file_is_left_and_forgotten(tmp_path: Path) -> None:
    setup = host(tmp_path)
    setup.remember([DAEMON], {})
    setup.files.write(DAEMON, "{}")
    setup.restore(drop=[DAEMON])
    assert setup.files.read(DAEMON) == "{}"
    assert setup.records() == []


def test_the_record_is_for_root_only(tmp_path: Path) -> None:
    setup = host(tmp_path)
    setup.remember([DAEMON], {})
    folder = tmp_path / RECORDS.lstrip("/")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "setup.json").stat().st_mode) == 0o600
    assert setup.records() == ["setup"]


def test_nothing_to_keep_makes_no_record(tmp_path: Path) -> None:
    setup = host(tmp_path)
    setup.remember([], {})
    assert setup.records() == []
    assert setup.read() == {"files": {}, "notes": {}}
