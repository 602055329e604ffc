# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The aarch64 answer of a host's Python."""

from __future__ import annotations

import subprocess
import sys

from lab.programs import HOST_IMAGE

SAY = "import fake_arch, os, platform; print(platform.machine(), os.uname().machine, platform.uname().machine)"


def test_python_says_aarch64() -> None:
    done = subprocess.run([sys.executable, "-S", "-c", SAY], cwd=HOST_IMAGE, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["aarch64"] * 3
