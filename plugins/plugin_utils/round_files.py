# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a run on the controller, with a file for each finished round: an edge, it writes files."""

from __future__ import annotations

import base64
import contextlib
import os
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import sequence
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import (
    END,
    self_test_in,
    unpacked,
    write_self_test,
)

# An id becomes the name of a file.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class CannotWrite(Exception):
    """A round cannot be written here, or must not: a sentence."""


class RoundFiles:
    """The rounds of a run. What is here is the whole state of it.

    :ivar folder: the folder of the run
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder).absolute()
        self._rounds: dict[str, dict[str, Any]] = {}

    @property
    def path(self) -> Path:
        return self.folder / "rounds"

    def open(self, resume: bool) -> None:
        """Have the folder, and read what an interrupted run left in it.

        :param resume: whether there may be something
        :raises CannotWrite: it cannot be had, or holds rounds that nobody wants to go on with
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            files = sorted(self.path.glob(f"*{END}"))
        except OSError as error:
            raise CannotWrite(f"{self.path} cannot be made: {error.strerror or error}.") from error
        if files and not resume:
            words = f"{self.folder} holds {len(files)} rounds of an earlier run, wanted is an empty folder"
            raise CannotWrite(f"{words}. Give it as benchmark_resume to go on with them, or choose another folder.")
        for file in files:
            # A round that cannot be read is played again.
            with contextlib.suppress(OSError, ValueError):
                self._saw(unpacked(file.read_bytes()))
        # What is to be played again is not here, else its host would not send it. The file says why until then.
        self._rounds = {round_id: self._rounds[round_id] for round_id in self.held}

    @property
    def ids(self) -> list[str]:
        """Ids of the rounds that are here."""
        return sorted(self._rounds)

    @property
    def known(self) -> list[dict[str, Any]]:
        """What is needed of the rounds that are not played again."""
        return [self._rounds[round_id]["known"] for round_id in self.held]

    @property
    def held(self) -> list[str]:
        """Ids of the rounds that are not played again."""
        return [one["id"] for one in sequence.held(self._rounds[round_id]["known"] for round_id in self.ids)]

    def write(self, round_id: str, packed: str) -> dict[str, Any]:
        """Write a round as it came from its host: all of it or nothing.

        :returns: the round
        :raises CannotWrite: the disk does not take it, or it is no round
        """
        try:
            content = base64.b64decode(packed, validate=True)
            one = unpacked(content)
        except ValueError as error:
            raise CannotWrite(f"Round {round_id!r} came damaged from its host: {error}.") from error
        if one["id"] != round_id or not _ID.fullmatch(round_id):
            raise CannotWrite(f"Round {round_id!r} came under the name of {one['id']!r} from its host.")
        part = self.path / f".{round_id}.part"
        try:
            with part.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(self.path / f"{round_id}{END}")
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            words = f"Round {round_id} cannot be written into {self.path}: {error.strerror or error}"
            remedy = f"Make room there, then run again with benchmark_resume={self.folder}"
            raise CannotWrite(f"{words}. The {len(self._rounds)} rounds before it are there. {remedy}.") from error
        self._saw(one)
        return one

    @property
    def self_test(self) -> dict[str, Any] | None:
        """What the client's self-test found; None when it was not made."""
        return self_test_in(self.path)

    def keep_self_test(self, found: Any) -> None:
        """Keep it unless there is one: that of a run's first beginning stays. It fails nothing."""
        if isinstance(found, dict) and self.self_test is None:
            write_self_test(self.path, found)

    def totals(self) -> dict[str, Any]:
        """What the rounds are in all, for the result of the task."""
        rounds = list(self._rounds.values())
        requests = sum(one["requests"] for one in rounds)
        errors: dict[str, int] = {}
        for one in rounds:
            for kind, number in one["known"]["errors"].items():
                errors[kind] = errors.get(kind, 0) + number
        times = [(one["began"], one["began"] + one["known"]["seconds"]) for one in rounds if one["requests"]]
        return {
            "rounds": len(rounds),
            "skipped_rounds": sum(bool(one["known"]["skipped"]) for one in rounds),
            "requests": requests,
            "failed_requests": sum(one["requests"] - one["known"]["succeeded"] for one in rounds),
            "errors": errors,
            "nothing_worked": not any(one["known"]["succeeded"] for one in rounds),
            "started": _utc(min(began for began, _end in times)) if times else None,
            "ended": _utc(max(end for _began, end in times)) if times else None,
        }

    def _saw(self, one: dict[str, Any]) -> None:
        self._rounds[one["id"]] = {
            "known": sequence.known_of(one),
            "requests": len(one["requests"]),
            "began": one["began"],
        }


def again(folder: Path) -> str:
    """How a run of this folder goes on, in words; empty for a block of a run that deploys, which goes on as a whole."""
    # RUN/blocks/NUMBER/BLOCK, see block_experiment.
    is_block = folder.absolute().parent.parent.name == "blocks"
    return "" if is_block else f"go on with the same command and -e benchmark_resume={folder}"


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
