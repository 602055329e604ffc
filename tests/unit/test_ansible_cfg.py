# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration that people run the playbooks with."""

from __future__ import annotations

import configparser
from pathlib import Path

CONFIGURATION = Path(__file__).parents[2] / "ansible.cfg"


def test_a09_the_control_path_is_ansible_s_short_hash() -> None:
    """A path of our own with host names in it gets too long for a socket; all that is shown then is "unreachable"."""
    read = configparser.ConfigParser(interpolation=None)
    read.read(CONFIGURATION, encoding="utf-8")
    connection = read["ssh_connection"]
    assert "ControlPath" not in connection["ssh_args"]
    assert not {"control_path", "control_path_dir"} & set(connection)
