# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the collection's tarball, install it into an empty folder and check its playbooks there by full name."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.collection_tree import NAME, NAMESPACE, collection_folder, export_collection

PLAYBOOKS = ("deploy_tp1", "stop", "status")


def clean_environment(source: dict[str, str], folder: Path) -> dict[str, str]:
    """Return an environment in which Ansible sees the folder's collections and no setting of the checkout."""
    kept = {name: value for name, value in source.items() if not name.startswith("ANSIBLE_")}
    return {
        **kept,
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "installed"),
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_HOME": str(folder / "home"),
    }


def syntax_command(playbook: str, inventory: Path) -> list[str]:
    """Return the command that checks a playbook of the installed collection."""
    return ["ansible-playbook", "-i", str(inventory), "--syntax-check", f"{NAMESPACE}.{NAME}.{playbook}"]


def _run(command: Sequence[str], folder: Path, environment: dict[str, str]) -> bool:
    """Run a command with its output shown; return whether it went well."""
    print(f"$ {' '.join(command)}", flush=True)
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0


def check_tarball(folder: Path) -> list[str]:
    """Do all of it in an empty folder; return what failed."""
    source = export_collection(folder / "source")
    inventory = folder / "hosts.yml"
    inventory.write_text("---\nsparks:\n  hosts:\n    spark1:\n    spark2:\n", encoding="utf-8")
    (folder / "ansible.cfg").write_text("[defaults]\n", encoding="utf-8")
    work = folder / "elsewhere"
    work.mkdir()
    environment = clean_environment(dict(os.environ), folder)
    if not _run(["ansible-galaxy", "collection", "build", "--output-path", str(work), str(source)], work, environment):
        return ["the build"]
    (tarball,) = work.glob(f"{NAMESPACE}-{NAME}-*.tar.gz")
    print(f"{tarball.name}: {tarball.stat().st_size / 1024:.0f} KiB", flush=True)
    target = folder / "installed"
    # Without dependencies: they come with the `ansible` package, and no galaxy server is asked.
    install = ["ansible-galaxy", "collection", "install", "--offline", "--no-deps", "-p", str(target), str(tarball)]
    if not _run(install, work, environment):
        return ["the installation"]
    if not (collection_folder(target) / "playbooks").is_dir():
        return ["the tarball's content: it has no playbooks"]
    return [
        f"the syntax check of {playbook}"
        for playbook in PLAYBOOKS
        if not _run(syntax_command(playbook, inventory), work, environment)
    ]


def main() -> int:
    """Command line: no arguments."""
    with tempfile.TemporaryDirectory(prefix="dgxspark-tarball-") as folder:
        failed = check_tarball(Path(folder))
    if failed:
        print(f"error: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
