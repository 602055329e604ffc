# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's folder on its host: what is in it, and how another one takes its place. An edge: it writes files."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.decide import Content
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.places import Places
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.service import Runner, run
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import cause
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused

FOLDER_MODE = 0o750
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


class Folder:
    """The folder and the two beside it: the next one, and the one before.

    :param run: runs a command; tests give one that only pretends
    """

    def __init__(self, places: Places, run: Runner = run) -> None:
        self.places = places
        self._run = run

    def content(self) -> dict[str, Content]:
        """All files that are live."""
        try:
            paths = sorted(self.places.folder.iterdir())
        except FileNotFoundError:
            return {}
        return {path.name: Content(path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) for path in paths}

    def record(self) -> dict[str, Any]:
        """What was installed; empty when nothing was, or nobody can say what."""
        try:
            found = json.loads(self.places.record.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def stage(self, files: Mapping[str, Content], group: int) -> None:
        """Write the next folder, for root and a group's eyes only."""
        staged = self.places.staged
        self.drop_staged()
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.mkdir(mode=0o700)
        for name, content in files.items():
            path = staged / name
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as stream:
                stream.write(content.data)
                stream.flush()
                os.fsync(stream.fileno())
            os.chown(path, os.geteuid(), group)
            path.chmod(content.mode)
        os.chown(staged, os.geteuid(), group)
        staged.chmod(FOLDER_MODE)

    def drop_staged(self) -> None:
        """Remove the next folder."""
        shutil.rmtree(self.places.staged, ignore_errors=True)

    def check(self, commands: Sequence[Sequence[str]]) -> None:
        """Have the programs look at the next folder.

        :param commands: with ``{folder}``, and ``{scratch}`` for a folder that is removed afterwards
        :raises Refused: when one does not like it, in its own words
        """
        for argv in commands:
            with tempfile.TemporaryDirectory(prefix="dgxspark-gateway-") as scratch:
                names = {"{folder}": str(self.places.staged), "{scratch}": scratch}
                words = [_named(word, names) for word in argv]
                done = self._run(words)
            program = Path(argv[0]).name
            if done.code == MISSING:
                raise Refused(
                    f"found no {argv[0]} on the host, wanted it to run the gateway. Install the package {program}."
                )
            if done.code:
                said = cause(done.err or done.out).replace(str(self.places.staged), str(self.places.folder))
                raise Refused(
                    f"{program} refuses the new configuration, so that the gateway was left as it is; found: {said}."
                )

    def go_live(self) -> None:
        """Let the next folder take the place of the live one, which is kept; a reader sees one or the other."""
        live, staged, previous = self.places.folder, self.places.staged, self.places.previous
        if not live.exists():
            staged.rename(live)
            return
        _exchange(staged, live)
        shutil.rmtree(previous, ignore_errors=True)
        staged.rename(previous)

    def go_back(self, to_previous: bool) -> None:
        """Undo :meth:`go_live`.

        :param to_previous: whether there was a folder before
        """
        live, previous = self.places.folder, self.places.previous
        if to_previous:
            _exchange(previous, live)
            shutil.rmtree(previous)
        else:
            shutil.rmtree(live, ignore_errors=True)

    def remove(self) -> None:
        """Remove all three."""
        for path in (self.places.folder, self.places.staged, self.places.previous):
            shutil.rmtree(path, ignore_errors=True)


def _named(word: str, names: Mapping[str, str]) -> str:
    for name, path in names.items():
        word = word.replace(name, path)
    return word


def _exchange(one: Path, other: Path) -> None:
    """Swap two folders, at one moment where the file system can."""
    renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE):
        aside = one.with_name(f"{one.name}.aside")
        other.rename(aside)
        one.rename(other)
        aside.rename(one)
