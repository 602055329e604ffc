# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the Python versions that are at hand, as real interpreters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

PROBE = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2], getattr(sys, '_base_executable', sys.executable))"


def parse_probe(text: str, wanted: str) -> Path | None:
    """Return the interpreter that a probe's output names, when it is of the wanted version (`3.12`)."""
    match = re.fullmatch(r"(\d+\.\d+) (\S.*)", text.strip())
    return Path(match[2]) if match and match[1] == wanted else None


def candidates(version: str, home: Path, pyenv_root: str | None) -> list[str]:
    """Return what may be a Python of a version: the command on PATH, then pyenv's own folders (its newest first).

    pyenv's command on PATH refuses to run for versions that are installed and not selected.
    """
    root = Path(pyenv_root) if pyenv_root else home / ".pyenv"
    kept = sorted(root.glob(f"versions/{version}.*/bin/python{version}"), key=_patch_level, reverse=True)
    on_path = shutil.which(f"python{version}")
    return [*([on_path] if on_path else []), *map(str, kept)]


def _patch_level(interpreter: Path) -> int:
    """Return 7 for a folder `3.11.7`, and 0 for one that names no release."""
    last = interpreter.parents[1].name.rsplit(".", 1)[-1]
    return int(last) if last.isdigit() else 0


def find_python(version: str) -> Path | None:
    """Return a real interpreter of a version that can make environments, or None."""
    for candidate in candidates(version, Path.home(), os.environ.get("PYENV_ROOT")):
        done = subprocess.run([candidate, "-c", PROBE], capture_output=True, text=True, check=False)
        found = parse_probe(done.stdout, version) if done.returncode == 0 else None
        if found:
            return found
    return None


def find_pythons(versions: Iterable[str]) -> dict[str, Path]:
    """Return the interpreters at hand by version."""
    found = {version: find_python(version) for version in versions}
    return {version: path for version, path in found.items() if path}
