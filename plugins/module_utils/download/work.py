# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Download a model as work in the background: an edge, it looks at files while a program writes them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import disk
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import Progress, WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.download import choice, refusal, room
from ansible_collections.dgxspark.serving.plugins.module_utils.download.client import Driver
from ansible_collections.dgxspark.serving.plugins.module_utils.models import hub_cache

# Seconds before another attempt after the connection broke off.
PAUSE = 5.0


@dataclass(frozen=True)
class Wanted:
    """A model to download.

    :ivar asked: the model and where it comes from
    :ivar root: where the library is to put it: the cache of Hugging Face, the model's own folder of ModelScope
    :ivar token: empty for the user's own, or none
    :ivar tools: the virtual environment with the hub's library
    :ivar workers: files at once
    """

    asked: refusal.Asked
    root: str
    token: str
    tools: str
    workers: int

    def question(self) -> dict[str, Any]:
        """What the program is asked."""
        asked = self.asked
        about = {"hub": asked.hub, "model": asked.model, "revision": asked.revision, "endpoint": asked.endpoint}
        return {**about, "root": self.root, "token": self.token, "workers": self.workers}

    def driver(self) -> Driver:
        """The program, asked.

        :raises WorkFailed: it is not there
        """
        python = Path(self.tools, "bin/python3")
        try:
            return Driver(python, self.question())
        except OSError as error:
            raise WorkFailed(
                f"{python} cannot be run: {error.strerror}. Run the role model, which installs what downloads models."
            ) from error


class Files:
    """The files of a download on the disk."""

    def __init__(self, wanted: Wanted, found: Sequence[Mapping[str, Any]], revision: str) -> None:
        """Choose files.

        :param found: path, size and name of the blob of each file of the repository
        :param revision: the commit, where the hub has such
        :raises WorkFailed: an engine could load none
        """
        try:
            names = choice.wanted(str(one["path"]) for one in found)
        except choice.NoWeights as error:
            raise WorkFailed(
                f"{wanted.asked.model} has no *.safetensors, found {error}:"
                " set serving_model to a repository with weights in safetensors."
            ) from error
        by_name = {str(one["path"]): one for one in found}
        target = Path(wanted.root)
        folder, blobs = target, target
        if wanted.asked.hub == "huggingface":
            repository = target / hub_cache.folder(wanted.asked.model)
            folder, blobs = repository / "snapshots" / revision, repository / "blobs"
        self.names = names
        self._final = [folder / name for name in names]
        # One content under two names is stored, and downloaded, once.
        self._sizes = {blobs / (by_name[name]["blob"] or name): int(by_name[name]["size"]) for name in names}

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(self._sizes.values())

    def complete(self) -> bool:
        """Whether all have their final names."""
        return all(path.exists() for path in self._final)

    def there(self) -> int:
        """Bytes that the disk has, unfinished files among them."""
        unfinished: dict[Path, int] = {}
        for folder in {path.parent for path in self._sizes}:
            with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".incomplete"):
                        with contextlib.suppress(FileNotFoundError):
                            unfinished[Path(entry.path)] = entry.stat().st_size
        return sum(self._there(path, size, unfinished) for path, size in self._sizes.items())

    def _there(self, path: Path, size: int, unfinished: Mapping[Path, int]) -> int:
        """Bytes of one file; of an unfinished one as far as it is."""
        with contextlib.suppress(FileNotFoundError):
            return min(path.stat().st_size, size)
        begun = [had for part, had in unfinished.items() if str(part).startswith(f"{path}.")]
        return min(max(begun, default=0), size)


def download(wanted: Wanted, progress: Progress) -> dict[str, Any]:
    """Download what is missing of a model; again when the connection breaks off and something had come.

    :raises WorkFailed: it cannot be downloaded
    """
    before = -1
    while True:
        said, files = _attempt(wanted, progress)
        if said["event"] == "done":
            return said["result"]
        reached = files.there() if files else 0
        if not refusal.broke_off(said) or reached <= before:
            raise WorkFailed(refusal.masked(refusal.sentence(wanted.asked, said), wanted.token))
        before = reached
        progress.tell(reached, files.size if files else 0, "waiting for the hub, the connection broke off")
        time.sleep(PAUSE)


def _attempt(wanted: Wanted, progress: Progress) -> tuple[dict[str, Any], Files | None]:
    """One run of the program: how it ended, and the files when it came to know them."""
    driver = wanted.driver()
    files: Files | None = None
    result: dict[str, Any] = {}
    said: dict[str, Any] = {}
    try:
        for event in driver.events():
            if event is None:
                had, size = (files.there(), files.size) if files else (0, 0)
                progress.tell(had, size, "" if files else "asking the hub")
                continue
            said = event
            if said["event"] == "files":
                files = Files(wanted, said["files"], said["revision"])
                needed = files.size - files.there()
                notes = _room(wanted, needed)
                changed = needed > 0 or not files.complete()
                result = {"changed": changed, "downloaded": needed, "size": files.size, "notes": notes}
                result["revision"] = said["revision"]
                driver.tell({"files": files.names})
    finally:
        driver.close()
    if files and said["event"] == "done":
        progress.tell(files.size, files.size)
        return {**said, "result": {**result, "folder": said["path"]}}, files
    return {**said, "began": files is not None}, files


def _room(wanted: Wanted, needed: int) -> list[str]:
    """What to say about room on the disk.

    :raises WorkFailed: there is not enough
    """
    folder = disk.nearest(wanted.root)
    free = disk.free(folder)
    problem = room.too_small(wanted.asked.model, needed, free, folder)
    if problem:
        raise WorkFailed(problem)
    note = room.unknown(free, folder)
    return [note] if note else []
