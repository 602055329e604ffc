# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a lab remembers on disk: its ssh key, its known hosts, and where it wrote its inventory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.cache import cache_root, file_lock


def labs_folder() -> Path:
    """Return the folder that holds one folder per lab."""
    return cache_root() / "labs"


def remembered_labs() -> list[str]:
    """Return the labs that have a state folder."""
    folder = labs_folder()
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


@dataclass(frozen=True)
class LabState:
    """Paths of one lab's state folder (0700)."""

    lab: str

    @property
    def folder(self) -> Path:
        """The folder itself."""
        return labs_folder() / self.lab

    @property
    def key(self) -> Path:
        """The private ssh key."""
        return self.folder / "id_ed25519"

    @property
    def known_hosts(self) -> Path:
        """The host keys that the lab read from its hosts."""
        return self.folder / "known_hosts"

    @property
    def own_inventory(self) -> Path:
        """Where the inventory goes unless another folder is named."""
        return self.folder / "inventory"

    def make(self) -> None:
        """Make the folder, closed to others."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)

    def inventories(self) -> list[Path]:
        """Return the folders that this lab wrote an inventory to."""
        record = self.folder / "inventories.json"
        return [Path(text) for text in json.loads(record.read_text(encoding="utf-8"))] if record.exists() else []

    def remember_inventory(self, folder: Path) -> None:
        """Add a folder to the inventories that `down` removes."""
        known = sorted({*map(str, self.inventories()), str(folder)})
        (self.folder / "inventories.json").write_text(json.dumps(known), encoding="utf-8")

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let one command at a time change this lab."""
        with file_lock(labs_folder() / f".{self.lab}.lock"):
            yield
