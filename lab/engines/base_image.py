# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer that both engine images stand on: Debian bookworm with Python 3.11, made by mmdebstrap."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

from lab.cache import cached, content_key
from lab.engines.archive import EPOCH
from lab.errors import LabError
from lab.packages import ensure_programs, system_environment
from lab.progress import long_step
from lab.unpack import unpack

SUITE = "bookworm"
PYTHON = "usr/bin/python3.11"
SITE_PACKAGES = "usr/local/lib/python3.11/dist-packages"
PACKAGES = ("ca-certificates", "iproute2", "libgomp1", "libnuma1", "procps", "python3")
UNWANTED = ("usr/share/man", "usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/i18n")
VOLATILE = ("tmp", "var/lib/apt/lists", "var/cache/apt", "var/log", "var/cache/debconf")


def mmdebstrap_command(target: Path) -> list[str]:
    """Return the command that makes the root file system as an uncompressed tar."""
    options = ["--quiet", "--variant=minbase", "--format=tar", "--skip=output/dev", f"--include={','.join(PACKAGES)}"]
    options += ['--aptopt=APT::Install-Recommends "false"']
    options += [f"--dpkgopt=path-exclude=/{folder}/*" for folder in UNWANTED]
    emptied = " ".join(f'"$1"/{folder}/*' for folder in VOLATILE)
    options += [f"--customize-hook=rm -rf {emptied}"]
    return ["mmdebstrap", *options, SUITE, str(target)]


def _build(target: Path) -> None:
    ensure_programs({"mmdebstrap": "mmdebstrap"})
    command = mmdebstrap_command(target)
    environment = {**system_environment(), "SOURCE_DATE_EPOCH": str(EPOCH)}
    with long_step("engine images: making the Debian base"):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join(done.stderr.splitlines()[-5:])
        raise LabError(f"mmdebstrap could not make the base of the engine images; its last lines:\n{last}")


def base_layer() -> Path:
    """Return the base as an uncompressed tar; builds it if it is not cached."""
    return cached("engine-base", content_key(*mmdebstrap_command(Path("rootfs.tar"))), _build)


def unpack_python(folder: Path) -> list[str]:
    """Unpack what the base's Python needs into a folder; return the start of a command that runs it there.

    It runs by the base's own loader and libraries, so that neither root nor a Python 3.11 of the machine is needed.
    """
    wanted = ("./usr/lib/", "./usr/bin/")
    with tarfile.open(base_layer()) as layer:
        members = [member for member in layer if member.name.startswith(wanted) and not member.isdev()]
        unpack(layer, folder, members)
    libraries = folder / "usr/lib/x86_64-linux-gnu"
    return [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries), str(folder / PYTHON)]
