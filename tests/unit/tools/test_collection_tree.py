# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The copy of the checkout at the place that Ansible wants."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.collection_tree import belongs, collection_folder, export_collection


def make_checkout(folder: Path) -> Path:
    """Make a git checkout with tracked, new, ignored and deleted files and the link to itself."""
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("/results/\n", encoding="utf-8")
    for name in ("galaxy.yml", "deleted.yml", "results/log", "roles/a/tasks/main.yml"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    (folder / "short.yml").symlink_to("galaxy.yml")
    link = folder / ".collections" / "ansible_collections" / "dgxspark" / "serving"
    link.parent.mkdir(parents=True)
    link.symlink_to("../../..")
    subprocess.run(["git", "add", "deleted.yml"], cwd=folder, check=True)
    (folder / "deleted.yml").unlink()
    return folder


def test_copy(tmp_path: Path) -> None:
    tree = export_collection(tmp_path / "root", make_checkout(tmp_path / "checkout"))
    assert tree == collection_folder(tmp_path / "root")
    found = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if not path.is_dir())
    assert found == [".gitignore", "galaxy.yml", "roles/a/tasks/main.yml", "short.yml"]
    assert (tree / "short.yml").is_symlink()


def test_the_link_is_left_out() -> None:
    assert not belongs(".collections/ansible_collections/dgxspark/serving")
    assert belongs(".collectionsx")
