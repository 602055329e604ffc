# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of Debian packages that are unpacked and not installed, so that none of their services starts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lab.cache import cached, content_key
from lab.errors import LabError
from lab.packages import find_program, may_install, system_environment
from lab.progress import long_step

GATEWAYS = ("haproxy", "nginx")
_RELEASE = Path("/etc/os-release")


def _run(command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=system_environment())


def missing_packages(simulation: str) -> list[str]:
    """Return the packages, with their versions, that `apt-get --simulate install` would install."""
    found = []
    for line in simulation.splitlines():
        words = line.split()
        if len(words) > 2 and words[0] == "Inst":
            version = next(word for word in words[2:] if word.startswith("("))
            found.append(f"{words[1]}={version[1:]}")
    return found


def _unpack(packages: tuple[str, ...], folder: Path) -> None:
    """Download what the packages need and this machine lacks, and unpack it below a folder."""
    folder.mkdir(parents=True)
    command = ["apt-get", "--simulate", "--no-install-recommends", "install", *packages]
    simulated = _run(command)
    names = missing_packages(simulated.stdout)
    done = _run(["apt-get", "-q", "download", *names], folder) if simulated.returncode == 0 else simulated
    if done.returncode != 0 and may_install():
        # The lists of packages are missing or old.
        _run(["apt-get", "-q", "update"])
        names = missing_packages(_run(command).stdout)
        done = _run(["apt-get", "-q", "download", *names], folder)
    if done.returncode != 0 or not names:
        raise LabError(
            f"The packages {', '.join(packages)} cannot be downloaded: {done.stderr.strip()[-300:]} "
            "Run `apt-get update` as root, or install them by hand."
        )
    for package in sorted(folder.glob("*.deb")):
        unpacked = _run(["dpkg", "-x", str(package), str(folder)])
        if unpacked.returncode != 0:
            raise LabError(f"{package.name} cannot be unpacked: {unpacked.stderr.strip()}")
        package.unlink()


class Programs:
    """Programs that were unpacked, or those of the machine where it has them."""

    def __init__(self, packages: tuple[str, ...] = GATEWAYS) -> None:
        """Unpack the packages, once per release of the system; raises LabError."""
        self.folder: Path | None = None
        if all(find_program(package) for package in packages):
            return
        key = content_key(*packages, _RELEASE.read_text(encoding="utf-8"))
        with long_step(f"unpacking {', '.join(packages)}"):
            self.folder = cached("debian-files", key, lambda folder: _unpack(packages, folder))

    def path(self, program: str) -> str:
        """Return the path of a program; raises LabError when there is none."""
        own = find_program(program)
        if own is None and self.folder:
            own = next((str(path) for path in self.folder.glob(f"usr/*bin/{program}")), None)
        if own is None:
            raise LabError(f"There is no program {program}.")
        return own

    def environment(self) -> dict[str, str]:
        """Return the environment in which the programs find the libraries that were unpacked with them."""
        if self.folder is None:
            return dict(os.environ)
        folders = [str(path) for path in self.folder.glob("usr/lib/*-linux-gnu")]
        return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(folders)}
