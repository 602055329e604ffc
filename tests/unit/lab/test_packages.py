# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the lab may install packages."""

from __future__ import annotations

import pytest

from lab import packages
from lab.errors import LabError


@pytest.mark.parametrize(
    ("text", "debian"),
    [
        ('ID=debian\nVERSION_ID="12"\n', True),
        ("ID=ubuntu\nID_LIKE=debian\n", True),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', True),
        ('ID=fedora\nNAME="Fedora (not debian)"\n', False),
        ("", False),
    ],
)
def test_is_debian(text: str, debian: bool) -> None:
    assert packages.is_debian(text) is debian


def test_nothing_missing_needs_no_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "may_install", lambda: False)
    packages.ensure_programs({"sh": "dash"})


def test_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "may_install", lambda: False)
    with pytest.raises(LabError, match=r"needs the packages no-such-package and may not install them"):
        packages.ensure_programs({"no-such-program": "no-such-package", "sh": "dash"})
