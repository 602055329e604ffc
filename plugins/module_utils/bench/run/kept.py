# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finished rounds on the client host, until the controller has them: an edge, it writes files.

They lie in a folder of their own beside the job's, which ends with the job; so they are still there when the worker was
killed, or when the controller was away. What nobody fetched for a day is removed with other old jobs.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import os
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder

END = ".json.gz"
# Not by that end: it is no round.
SELF_TEST = "self_test.json"
# Characters of rounds that one answer holds at most, unless the first round alone is larger.
MOST = 6_000_000
# Room that is given back when the disk is full, so that it can still be said.
BALLAST = 1 << 16


class NotKept(Exception):
    """A round cannot be written: a sentence."""


class Kept:
    """The finished rounds of one job.

    :ivar path: their folder, readable by its user alone
    """

    def __init__(self, job_id: str) -> None:
        self._job = JobFolder(job_id)
        self._folder = JobFolder(f"{job_id}-rounds")
        self.path: Path = self._folder.path
        self._ballast = self.path / "ballast"

    def make(self) -> None:
        """Have the folder; what is in it stays."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.asked.touch()
        self._ballast.write_bytes(bytes(BALLAST))

    def silent(self) -> float:
        """Seconds since the controller asked last; 0 when nobody knows."""
        try:
            return time.time() - self._job.asked.stat().st_mtime
        except OSError:
            return 0.0

    def ids(self) -> list[str]:
        """Ids of the rounds that are here, in order."""
        return sorted(file.name.removesuffix(END) for file in self.path.glob(f"*{END}"))

    def write(self, one: dict[str, Any]) -> None:
        """Keep a round: all of it or nothing.

        :raises NotKept: the file system does not take it
        """
        part = self.path / f".{one['id']}.part"
        try:
            with part.open("wb") as stream:
                stream.write(packed(one))
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(self.path / f"{one['id']}{END}")
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
                self._ballast.unlink(missing_ok=True)
            raise NotKept(
                f"Round {one['id']} ({one['point']}) is lost: {self.path} does not take it: {error.strerror or error}."
                f" All rounds before it are kept. Make room there, and run again with benchmark_resume."
            ) from error

    def read(self) -> Iterator[dict[str, Any]]:
        """The rounds that are here and can be read."""
        for round_id in self.ids():
            with contextlib.suppress(OSError, EOFError, ValueError):
                yield unpacked((self.path / f"{round_id}{END}").read_bytes())

    def keep_self_test(self, found: Mapping[str, Any]) -> None:
        """Keep what the client's self-test found; on a full disk the first round says so."""
        write_self_test(self.path, found)

    def self_test(self) -> dict[str, Any] | None:
        """What the client's self-test found; None when it was not made, or cannot be read."""
        return self_test_in(self.path)

    def drop(self, ids: Iterable[str]) -> None:
        """Forget rounds, which are to be played anew."""
        for round_id in ids:
            (self.path / f"{round_id}{END}").unlink(missing_ok=True)

    def answer(self, have: Iterable[str]) -> dict[str, Any]:
        """What the controller has not got: ``rounds`` by id, how many are ``left``, and the ``self_test``."""
        known = set(have)
        wanted = [round_id for round_id in self.ids() if round_id not in known]
        rounds: dict[str, str] = {}
        size = 0
        for round_id in wanted:
            text = base64.b64encode((self.path / f"{round_id}{END}").read_bytes()).decode("ascii")
            if rounds and size + len(text) > MOST:
                break
            rounds[round_id] = text
            size += len(text)
        return {"rounds": rounds, "left": len(wanted) - len(rounds), "self_test": self.self_test()}

    def end(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.path, ignore_errors=True)


def write_self_test(rounds: Path, found: Mapping[str, Any]) -> None:
    """Lay what a self-test found beside the rounds; that it cannot be written fails nothing."""
    part = rounds / f".{SELF_TEST}.part"
    with contextlib.suppress(OSError):
        part.write_text(json.dumps(found), "utf-8")
        part.replace(rounds / SELF_TEST)


def self_test_in(rounds: Path) -> dict[str, Any] | None:
    """What the client's self-test of a run found, from the folder of its rounds; None when there is none to be read."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((rounds / SELF_TEST).read_text("utf-8"))
        return found if isinstance(found, dict) else None
    return None


def packed(one: dict[str, Any]) -> bytes:
    """A round as it is kept; the same bytes for the same round."""
    text = json.dumps(one, separators=(",", ":"), ensure_ascii=False)
    return gzip.compress(text.encode(), compresslevel=5, mtime=0)


def unpacked(content: bytes) -> dict[str, Any]:
    """Read a kept round.

    :raises ValueError: when it is none
    """
    try:
        found = json.loads(gzip.decompress(content))
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"no gzip file: {error}") from error
    if not isinstance(found, dict) or "id" not in found:
        raise ValueError("no round")
    return found
