# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for uname."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lab.host_image.uname import wanted
from lab.programs import HOST_IMAGE


@pytest.mark.parametrize(
    ("arguments", "letters"),
    [
        ([], "s"),
        (["-m"], "m"),
        (["-r", "-s"], "sr"),
        (["-ms"], "sm"),
        (["-a"], "snrvmo"),
        (["--machine"], "m"),
        (["--help"], None),
        (["-x"], None),
        (["name"], None),
    ],
)
def test_wanted(arguments: list[str], letters: str | None) -> None:
    assert wanted(arguments) == letters


def test_machine() -> None:
    done = subprocess.run([sys.executable, "-S", str(HOST_IMAGE / "uname.py"), "-m"], capture_output=True, check=True)
    assert done.stdout == b"aarch64\n"
