# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured text of a host: what to read there, and what was read. Pure; :mod:`look` is the edge that fills it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MISSING = 127
LATE = 124


@dataclass(frozen=True)
class Output:
    """What a command gave.

    :ivar code: its exit code; ``MISSING`` where there is no such command, ``LATE`` where it did not end in time
    """

    code: int
    out: str = ""
    err: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return self.code == 0


@dataclass(frozen=True)
class Sources:
    """What to read on a host.

    :ivar files: absolute paths, ``*`` allowed
    :ivar links: absolute paths, ``*`` allowed, of which the resolved path is wanted
    :ivar commands: argv of each command by a name of its own
    """

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __or__(self, other: Sources) -> Sources:
        return Sources(
            tuple(dict.fromkeys(self.files + other.files)),
            tuple(dict.fromkeys(self.links + other.links)),
            {**self.commands, **other.commands},
        )


@dataclass(frozen=True)
class Raw:
    """What was read on a host.

    :ivar files: text by path, of those that are there and may be read
    :ivar links: resolved path by path, of those that are there
    :ivar outputs: what each command gave, by its name
    :ivar denied: paths that are there and that this user may not read
    """

    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    denied: frozenset[str] = frozenset()

    def text(self, path: str) -> str:
        """The text of a file, without white space around it; empty when it is not there."""
        return self.files.get(path, "").strip()

    def output(self, name: str) -> Output:
        """What a command gave; as if there were no such command when it was not run."""
        return self.outputs.get(name, Output(MISSING))
