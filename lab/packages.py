# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian packages that the lab needs on the machine, installed when something of theirs is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.errors import LabError
from lab.progress import long_step

SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def find_program(name: str) -> str | None:
    """Return the path of a program, also of one in the sbin folders that a user's PATH may lack."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(SYSTEM_PATH))


def system_environment() -> dict[str, str]:
    """Return this environment with the sbin folders on PATH (dockerd looks up its helpers there)."""
    return {**os.environ, "PATH": os.pathsep.join([os.environ.get("PATH", ""), *SYSTEM_PATH])}


def is_debian(os_release: str) -> bool:
    """Say whether the text of /etc/os-release names Debian, Ubuntu or something made from them."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    names = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', "").split()
    return bool({"debian", "ubuntu"} & set(names))


def may_install() -> bool:
    """Say whether this process may install packages: root on Debian or Ubuntu."""
    release = Path("/etc/os-release")
    return os.geteuid() == 0 and release.exists() and is_debian(release.read_text(encoding="utf-8"))


def ensure_programs(packages: Mapping[str, str]) -> None:
    """Install the packages of missing programs (program name -> package name).

    Raises LabError when something is missing and this is not root on Debian or Ubuntu, or when apt fails.
    """
    missing = sorted({package for program, package in packages.items() if not find_program(program)})
    if not missing:
        return
    if not may_install():
        raise LabError(
            f"The lab needs the packages {', '.join(missing)} and may not install them: run it as root on Debian or "
            "Ubuntu, or install them by hand."
        )
    environment = {**system_environment(), "DEBIAN_FRONTEND": "noninteractive"}
    commands = (
        ["apt-get", "-q", "update"],
        ["apt-get", "-q", "install", "-y", "--no-install-recommends", *missing],
    )
    with long_step(f"installing {', '.join(missing)}"):
        for command in commands:
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            if done.returncode != 0:
                last = "\n".join(done.stdout.splitlines()[-5:])
                raise LabError(f"`{' '.join(command)}` failed; its last lines:\n{last}")
