# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python packages for the hosts, which have no index to install from: wheels for their Python, cached by content."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.cache import cached, content_key
from lab.errors import LabError
from lab.progress import long_step

# Of the host image's Debian.
PYTHON = "3.13"
# What downloads models; the role's own ranges choose among them.
TOOLS = ("huggingface_hub>=2.4,<3", "modelscope>=1.40,<2")


def command(target: Path, requirements: Sequence[str], machine: str) -> list[str]:
    """Return the command that downloads wheels for the hosts, whichever Python runs pip.

    A virtual environment on a host is a plain Python, to which the host does not say that it is aarch64.
    """
    abis = [f"cp{PYTHON.replace('.', '')}", "abi3", "none"]
    platforms = [f"manylinux_2_{glibc}_{machine}" for glibc in (28, 27, 24, 17, 5)] + [f"manylinux2014_{machine}"]
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
        *("--only-binary=:all:", "--implementation=cp", f"--python-version={PYTHON}", f"--dest={target}"),
        *(f"--abi={abi}" for abi in abis),
        *(f"--platform={name}" for name in platforms),
        *requirements,
    ]


def wheels(requirements: Sequence[str] = TOOLS) -> Path:
    """Return the folder of wheels, downloaded if needed; raises LabError when pip cannot."""
    machine = platform.machine()

    def build(target: Path) -> None:
        target.mkdir()
        with long_step("downloading Python packages for the hosts"):
            done = subprocess.run(command(target, requirements, machine), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise LabError("pip could not download packages for the hosts:\n" + "\n".join(lines[-5:]))

    return cached("wheels", content_key(*command(Path(), requirements, machine)[1:]), build)
