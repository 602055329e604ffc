# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that the role host changes on a host, and the record that brings them back. An edge.

The record is written before the first file is. What it says of a file or a matter first is kept: that is how the host
was before us.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import RECORDS, HostFiles

NAME = "setup"


class Setup:
    """The host's files and the record of them.

    :param files: the host's; tests give some with a root of their own
    """

    def __init__(self, files: HostFiles) -> None:
        self.files = files

    def records(self) -> list[str]:
        """The parts of the role of which there is a record."""
        return sorted(path.stem for path in self.files.path(RECORDS).glob("*.json"))

    def read(self) -> dict[str, dict[str, Any]]:
        """The record: ``files`` by path, each as it was, and ``notes``."""
        return self.files.record(NAME) or {"files": {}, "notes": {}}

    def remember(self, paths: Iterable[str], notes: Mapping[str, Any]) -> None:
        """Keep how these files are now, and these notes, unless the record says so already."""
        record = self.read()
        files = {path: self._as_it_is(path) for path in paths}
        if files or notes:
            self.files.keep(NAME, {"files": {**files, **record["files"]}, "notes": {**notes, **record["notes"]}})

    def restore(self, drop: Iterable[str] = ()) -> None:
        """Bring all files back as they were, and forget them.

        :param drop: files that are left as they are now
        """
        for path, before in self.read()["files"].items():
            if path in drop:
                continue
            if before["text"] is None:
                self._remove(path, before["folder"])
            elif self.files.read(path) != before["text"]:
                self.files.write(path, before["text"])
                self.files.path(path).chmod(before["mode"])
        self.files.forget(NAME)

    def _as_it_is(self, path: str) -> dict[str, Any]:
        text, place = self.files.read(path), self.files.path(path)
        if text is None:
            return {"text": None, "folder": place.parent.is_dir()}
        return {"text": text, "mode": place.stat().st_mode & 0o7777}

    def _remove(self, path: str, keep_folder: bool) -> None:
        self.files.remove(path)
        folder = self.files.path(path).parent
        if not keep_folder and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
