# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's ssh sockets get a folder of their own, which goes with the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.ssh_masters import VARIABLE, own_control_folder


def test_the_folder_goes_with_what_is_in_it() -> None:
    with own_control_folder() as environment:
        folder = Path(environment[VARIABLE])
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "stale").touch()
    assert not folder.exists()


def test_it_goes_after_a_failure_too() -> None:
    with pytest.raises(RuntimeError), own_control_folder() as environment:
        folder = Path(environment[VARIABLE])
        raise RuntimeError
    assert not folder.exists()


def test_a_socket_path_stays_short_enough() -> None:
    """A socket's name may have 104 bytes, and Ansible's hash and ssh's temporary ending take 30."""
    with own_control_folder() as environment:
        assert len(environment[VARIABLE]) <= 74
