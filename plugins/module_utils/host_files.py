# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a host that are changed and later put back, and what the undo needs to know: an edge."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import look
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Output, Raw, Sources
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_part

RECORDS = "/var/lib/dgxspark-serving/host"


class HostFiles:
    """Files and commands of a host.

    :ivar root: ``/`` on a host; tests move it
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, absolute: str) -> Path:
        """Where a path of the host is."""
        return self.root / absolute.lstrip("/")

    def run(self, argv: Sequence[str]) -> Output:
        """Run a command in English, for as long as it takes."""
        done = look.run(argv)
        return Output(MISSING, err=f"there is no {argv[0]}") if done == Output(MISSING) else done

    def look(self, sources: Sources) -> Raw:
        """Read what is named, under the root."""
        files, links = ([str(self.path(path)) for path in paths] for paths in (sources.files, sources.links))
        raw = look.look(Sources(tuple(files), tuple(links)))
        outputs = {name: self.run(argv) for name, argv in sources.commands.items()}
        return Raw(
            {self._absolute(path): text for path, text in raw.files.items()},
            {self._absolute(path): self._absolute(target) for path, target in raw.links.items()},
            outputs,
            frozenset(map(self._absolute, raw.denied)),
        )

    def _absolute(self, path: str) -> str:
        inside = self.root != Path("/") and path.startswith(f"{self.root}/")
        return path.removeprefix(str(self.root)) if inside else path

    def read(self, absolute: str) -> str | None:
        """A file, byte for byte also where it is not UTF-8; None when there is none."""
        try:
            return self.path(absolute).read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None

    def write(self, absolute: str, text: str, mode: int = 0o644) -> None:
        """Write a file as a whole; one that is there keeps its mode and owner.

        :param mode: of a new file
        """
        path = self.path(absolute).resolve()
        content = text.encode("utf-8", "surrogateescape")
        part = write_part(path, content)
        if path.exists():
            old = path.stat()
            os.chown(part, old.st_uid, old.st_gid)
            mode = old.st_mode & 0o7777
        os.chmod(part, mode)
        try:
            os.replace(part, path)
        except OSError as error:
            part.unlink()
            if error.errno != errno.EBUSY:
                raise
            path.write_bytes(content)  # mounted over, as in a container: only its content can change

    def remove(self, absolute: str) -> None:
        """Remove a file or a link, if it is there."""
        self.path(absolute).unlink(missing_ok=True)

    # What the undo needs to know

    def record(self, name: str) -> dict[str, Any] | None:
        """What was kept under a name; None when nothing was."""
        text = self.read(f"{RECORDS}/{name}.json")
        return json.loads(text) if text else None

    def keep(self, name: str, record: Mapping[str, Any]) -> None:
        """Keep what the undo needs, for root's eyes."""
        if self.record(name) == record:
            return
        folder = self.path(RECORDS)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        self.write(f"{RECORDS}/{name}.json", json.dumps(record, indent=1) + "\n", 0o600)

    def forget(self, name: str) -> None:
        """Remove it, and with the last one the folders that are empty now."""
        self.remove(f"{RECORDS}/{name}.json")
        for folder in (self.path(RECORDS), self.path(RECORDS).parent):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
