# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian packages that are unpacked and not installed."""

from __future__ import annotations

import pytest

from lab.debian_files import missing_packages

SIMULATED = """\
NOTE: This is only a simulation!
Inst liblua5.3-0 (5.3.6-2 Debian:12.9/stable [amd64])
Inst nginx [1.22.1-8] (1.22.1-9+deb12u11 Debian-Security:12/stable-security [amd64])
Conf liblua5.3-0 (5.3.6-2 Debian:12.9/stable [amd64])
"""


@pytest.mark.parametrize(
    ("text", "packages"),
    [(SIMULATED, ["liblua5.3-0=5.3.6-2", "nginx=1.22.1-9+deb12u11"]), ("0 upgraded, 0 newly installed", [])],
)
def test_missing_packages(text: str, packages: list[str]) -> None:
    assert missing_packages(text) == packages
