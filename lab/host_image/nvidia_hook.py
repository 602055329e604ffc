# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-container-runtime-hook`: what Docker runs for `--gpus all`. It lays nvidia-smi into the new container.

runc calls it when the container's namespaces are made and its root is not entered yet, with the state on stdin. As the
real one does, it goes into the mount namespace of the container and binds the host's files there.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path

MS_BIND = 4096
PROGRAM = Path("/usr/local/lib/dgxspark-lab/nvidia_smi")
# Its folder of answers comes along, so that what a test changes on the host is seen in the container too.
ANSWERS = Path("/etc/dgxspark-lab")


def root_of(bundle: Path) -> Path:
    """Return the root folder of the container of a bundle."""
    configuration = json.loads((bundle / "config.json").read_text(encoding="utf-8"))
    return bundle / configuration["root"]["path"]


def bind(source: Path, target: Path) -> None:
    """Bind-mount source over target; raises OSError with the kernel's reason."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount --bind {source} {target}: {os.strerror(number)}")


def lay_in(root: Path) -> None:
    """Bind the program and its answers below the root of a container."""
    program = root / "usr/bin/nvidia-smi"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.touch()
    bind(PROGRAM, program)
    answers = root / ANSWERS.relative_to("/")
    answers.mkdir(parents=True, exist_ok=True)
    bind(ANSWERS, answers)


def main() -> None:
    """Do the work of `prestart`; the other calls of the real hook have nothing to do here."""
    if sys.argv[1:] != ["prestart"]:
        return
    state = json.load(sys.stdin)
    root = root_of(Path(state["bundle"]))
    namespace = os.open(f"/proc/{state['pid']}/ns/mnt", os.O_RDONLY)
    os.setns(namespace, os.CLONE_NEWNS)
    lay_in(root)


if __name__ == "__main__":
    main()
