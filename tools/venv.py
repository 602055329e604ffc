# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make `.venv`: the one virtual environment of this checkout, kept in the cache and shared by equal checkouts.

Runs before anything is installed, so it uses the standard library alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lab.cache import cache_root, cached, content_key, remove
from lab.progress import long_step

CHECKOUT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
NEWEST = (3, 13)  # what the pinned ansible-core supports as a controller


class VenvError(Exception):
    """Something the operator can act on; the text says what was found, what is wanted and what to do."""


def version_fault(version: tuple[int, int]) -> str | None:
    """Return what is wrong with a Python version, or None when it is fine."""
    if OLDEST <= version <= NEWEST:
        return None
    return (
        f"This is Python {version[0]}.{version[1]}, but the pinned ansible-core wants {OLDEST[0]}.{OLDEST[1]} to "
        f"{NEWEST[0]}.{NEWEST[1]}: name one that is installed, for example `make PYTHON=python3.11 venv`."
    )


def venv_key(requirements: str, version: str, base_prefix: str) -> str:
    """Return the cache key: the pins, the full Python version and where that Python lives."""
    wanted = [line.strip() for line in requirements.splitlines()]
    pins = "\n".join(line for line in wanted if line and not line.startswith("#"))
    return content_key(pins, version, base_prefix)


def ensure_venv_module() -> None:
    """See to it that this Python can make environments; Debian keeps that part in a package of its own.

    Raises VenvError with the remedy where it may not be installed.
    """
    if _has_ensurepip():
        return
    by_hand = "install the package that brings `venv` for it (Debian and Ubuntu: `apt install python3-venv`)"
    if os.geteuid() != 0 or not shutil.which("apt-get") or Path(sys.base_prefix) != Path("/usr"):
        raise VenvError(f"The Python at {sys.executable} cannot make virtual environments: {by_hand}.")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with long_step("installing python3-venv"):
        for command in (
            ["apt-get", "-q", "update"],
            ["apt-get", "-q", "install", "-y", "--no-install-recommends", "python3-venv"],
        ):
            _run(command, environment)
    if not _has_ensurepip():
        raise VenvError(
            f"python3-venv is installed, yet the Python at {sys.executable} still lacks ensurepip: it is not Debian's "
            "default Python; name that one, for example `make PYTHON=/usr/bin/python3 venv`."
        )


def _has_ensurepip() -> bool:
    """Say whether a fresh interpreter of this Python finds ensurepip (this one may remember that it did not)."""
    probe = [sys.executable, "-c", "import ensurepip, venv"]
    return subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Run a command quietly; raises VenvError with its last lines when it fails."""
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-15:])
        raise VenvError(f"`{' '.join(command)}` ended with {done.returncode}; its last lines:\n{last}")


def _build(entry: Path, requirements: Path) -> None:
    """Make the environment in a tree of its own and `entry` as a link to it.

    The scripts of an environment name its place, so the tree must not be renamed; the link is what appears when the
    environment is complete.
    """
    trees = cache_root() / "venv-trees"
    trees.mkdir(parents=True, exist_ok=True)
    tree = Path(tempfile.mkdtemp(prefix=f"{entry.name.strip('.').removesuffix('.part')}-", dir=trees))
    try:
        with long_step("making the virtual environment (about 2 minutes, once)"):
            _run([sys.executable, "-m", "venv", str(tree)])
            # Without --no-compile a third of the time goes into bytecode of modules that nobody will import.
            _run([str(tree / "bin" / "pip"), "install", "--no-compile", "-r", str(requirements)])
    except BaseException:
        shutil.rmtree(tree)
        raise
    entry.symlink_to(tree)


def ensure_venv(checkout: Path = CHECKOUT) -> Path:
    """Return the checkout's `.venv`, after building the environment and linking it where that is missing.

    Raises VenvError for an unusable Python, a failed installation, or a `.venv` that somebody else made.
    """
    fault = version_fault(sys.version_info[:2])
    if fault:
        raise VenvError(fault)
    link = checkout / ".venv"
    if link.exists() and not link.is_symlink():
        raise VenvError(f"{link} is a folder, not the link that this tool makes: move it away and try again.")
    requirements = checkout / "requirements.txt"
    key = venv_key(requirements.read_text(encoding="utf-8"), sys.version.split()[0], sys.base_prefix)
    entry = cache_root() / "venv" / key
    if entry.is_symlink() and not (entry / "bin" / "python").exists():
        entry.unlink()  # its Python or its tree is gone
    if not entry.exists():
        ensure_venv_module()
    target = cached("venv", key, lambda path: _build(path, requirements))
    if not link.is_symlink() or link.readlink() != target:
        fresh = link.with_name(".venv.new")
        remove(fresh)
        fresh.symlink_to(target)
        fresh.replace(link)
    return link


def main() -> int:
    """Command line: no arguments; prints nothing when the environment is there."""
    try:
        ensure_venv()
    except VenvError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
