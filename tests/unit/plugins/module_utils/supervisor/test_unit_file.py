# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd unit of a supervisor: what the rest of the design rests on."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

UNIT = Path(__file__).parents[5] / "roles/replica/files/dgxspark-replica@.service"


@pytest.fixture(scope="module")
def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT)
    return parser


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("Service", "ExecStart", f"/usr/bin/python3 -u {HostPaths().program} run %i"),
        ("Service", "Type", "notify"),
        # A supervisor that dies is started again and adopts the engine, which lives on.
        ("Service", "Restart", "always"),
        ("Service", "KillMode", "process"),
        ("Service", "ExecReload", "/bin/kill -HUP $MAINPID"),
        ("Service", "RuntimeDirectoryPreserve", "yes"),
        # At boot, and before Docker at shutdown.
        ("Install", "WantedBy", "multi-user.target"),
        ("Unit", "After", "docker.service network-online.target"),
        ("Unit", "StartLimitIntervalSec", "0"),
    ],
)
def test_the_unit_says(unit: configparser.ConfigParser, section: str, key: str, value: str) -> None:
    assert unit[section][key] == value


def test_a_restart_of_docker_does_not_end_the_supervisor(unit: configparser.ConfigParser) -> None:
    assert not {"Requires", "BindsTo", "PartOf", "Requisite"} & set(unit["Unit"])
