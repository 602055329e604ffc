# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ansible-test on the collection: in a copy of the checkout, offline but for the package registry.

The copy, the environments that ansible-test makes and its home folder are kept in the cache; one run at a time.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.cache import cache_root, file_lock, remove
from tools.collection_tree import CHECKOUT, collection_folder, copy_files, listed_files
from tools.pythons import find_pythons

CONTROLLER = f"{sys.version_info.major}.{sys.version_info.minor}"
# What runs in hosts must also work there: DGX OS 7 has 3.12, older and newer images 3.10 and 3.13. Sanity takes all
# at hand, the units the oldest: `make unit` runs them on the controller's, and the lab's hosts have 3.13.
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
UNIT_TARGET = "tests/unit/plugins/"
KEPT = ("tests/output",)  # environments and results of ansible-test itself


def pip_version(source: str) -> str:
    """Return the version of pip that ansible-test asks get-pip for, from the text of its python_requirements.py.

    Raises ValueError when the text does not name one: another ansible-core than the pinned one.
    """
    match = re.search(r"""\bpip=['"]([0-9.]+)['"]""", source)
    if not match:
        raise ValueError("ansible-test no longer names its pip in python_requirements.py: adapt tools/ansible_test.py")
    return match[1]


def shim_name(version: str) -> str:
    """Return the file name under which ansible-test keeps the get-pip of a version."""
    return f"get_pip_{version.replace('.', '_')}.py"


def stale_files(present: Sequence[str], listed: Sequence[str]) -> list[str]:
    """Return what an earlier copy has and this one has not, apart from ansible-test's own files."""
    wanted = set(listed)
    return [name for name in present if name not in wanted and not any(_below(name, kept) for kept in KEPT)]


def _below(name: str, folder: str) -> bool:
    """Say whether a path is a folder or something in it."""
    return name == folder or name.startswith(folder + "/")


def prepare_home(home: Path) -> None:
    """Make a home folder for ansible-test, so that our get-pip does not end up in the operator's.

    Where pip finds its registry and its cache stays as the operator has it.
    """
    package = importlib.util.find_spec("ansible_test")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError("ansible-test is not installed in this environment: run `make venv`.")
    internal = Path(next(iter(package.submodule_search_locations))) / "_internal" / "python_requirements.py"
    shim = home / ".ansible" / "test" / "cache" / shim_name(pip_version(internal.read_text(encoding="utf-8")))
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_bytes(Path(__file__).with_name("get_pip.py").read_bytes())
    for name in (".config/pip", ".pip", ".cache/pip"):
        real, link = Path.home() / name, home / name
        if real.exists() and not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(real)


def prepare_tree(root: Path) -> Path:
    """Bring the copy up to date with the checkout, make git know its files, and return the collection's folder."""
    tree = collection_folder(root)
    tree.mkdir(parents=True, exist_ok=True)
    names = listed_files(CHECKOUT)
    remove(tree / ".git")
    present = [path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_symlink() or path.is_file()]
    for name in stale_files(present, names):
        remove(tree / name)
    for name in names:
        remove(tree / name)
    copy_files(CHECKOUT, names, tree)
    listing = "\0".join(name for name in names if os.path.lexists(tree / name))
    subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)
    add = ["git", "add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"]
    subprocess.run(add, cwd=tree, input=listing, text=True, check=True)
    return tree


def child_environment(home: Path, pythons: Sequence[Path]) -> dict[str, str]:
    """Return the environment: the home folder above, and real interpreters before any pyenv command."""
    folders = [str(Path(sys.prefix) / "bin"), *dict.fromkeys(str(python.parent) for python in pythons)]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    return {**environment, "HOME": str(home), "PATH": path}


def sanity_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of the sanity tests, on the controller's Python."""
    return ["ansible-test", "sanity", "--requirements", "--venv", "--python", CONTROLLER, "--color", "no", *arguments]


def units_command(python: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line of the unit tests of plugins/ on one Python."""
    targets = list(arguments) or [UNIT_TARGET]
    place = ["--controller", f"origin:python=venv/{CONTROLLER}", "--target-python", f"venv/{python}"]
    return ["ansible-test", "units", "--requirements", *place, "--color", "no", *targets]


def main(argv: Sequence[str] | None = None) -> int:
    """Command line: `sanity` or `units`, and arguments for ansible-test."""
    parser = argparse.ArgumentParser(prog="python -m tools.ansible_test", description=__doc__)
    parser.add_argument("command", choices=["sanity", "units"])
    parser.add_argument("arguments", nargs="*", help="for ansible-test, after `--`; for example `-- --test pep8`")
    options = parser.parse_args(argv)
    pythons = find_pythons(PYTHONS)
    if CONTROLLER not in pythons:
        print(
            f"error: ansible-test needs a Python {CONTROLLER} with venv, and none was found on PATH.", file=sys.stderr
        )
        return 1
    root = cache_root() / "ansible-test"
    home = root / "home"
    with file_lock(root / ".lock"):
        prepare_home(home)
        tree = prepare_tree(root / "tree")
        environment = child_environment(home, list(pythons.values()))
        if options.command == "sanity":
            return subprocess.run(sanity_command(options.arguments), cwd=tree, env=environment, check=False).returncode
        python = next(iter(pythons))
        print(f"Python {python}", flush=True)
        command = units_command(python, options.arguments)
        return subprocess.run(command, cwd=tree, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
