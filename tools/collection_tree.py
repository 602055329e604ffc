# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy what belongs to the collection into `ansible_collections/dgxspark/serving` of a folder.

Several tools of Ansible want this place in the file system, and some follow the checkout's own link back to itself
(`.collections/`) without end; so they get a copy of the files that git knows or would add.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

NAMESPACE = "dgxspark"
NAME = "serving"
CHECKOUT = Path(__file__).resolve().parent.parent


def belongs(path: str) -> bool:
    """Say whether a path of the checkout goes into the copy: all but the link to the checkout itself."""
    return path.split("/", 1)[0] != ".collections"


def listed_files(checkout: Path) -> list[str]:
    """Return the paths that git tracks or would add; ends the program with a sentence outside of a git checkout."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, check=False)
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise SystemExit(f"error: git does not list the files of {checkout} ({''.join(why)}): use a git clone.")
    return sorted({name for name in done.stdout.decode().split("\0") if name and belongs(name)})


def collection_folder(root: Path) -> Path:
    """Return the collection's folder below a collections path."""
    return root / "ansible_collections" / NAMESPACE / NAME


def copy_files(checkout: Path, names: Iterable[str], target: Path) -> None:
    """Copy files and links with their times; names of deleted files, which git still lists, are left out."""
    for name in names:
        source, copy = checkout / name, target / name
        if not os.path.lexists(source):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy, follow_symlinks=False)


def export_collection(root: Path, checkout: Path = CHECKOUT) -> Path:
    """Fill a fresh collections path with the collection and return the collection's folder."""
    target = collection_folder(root)
    target.mkdir(parents=True)
    copy_files(checkout, listed_files(checkout), target)
    return target
