# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Swap in ``/etc/fstab``: which rows bring it back, and how to take them out and put them back. Pure.

A row is found by its fields, never by the word (field fault P10), and named by its source device, never by its mount
point, which is ``none`` for all of them (field fault P12).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

PATH = "/etc/fstab"
# In front of a row that we took out. What the user has commented out himself never gets it, and so is never put back.
PREFIX = "#dgxspark.serving# "
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Row:
    """A row for swap.

    :ivar line: its number, from 1
    :ivar device: its first field, such as ``/swap.img`` or ``UUID=...``
    :ivar options: its fourth field, split
    """

    line: int
    device: str
    options: tuple[str, ...]

    @property
    def at_boot(self) -> bool:
        """Whether swap is switched on by it at boot."""
        return "noauto" not in self.options


def unescaped(field: str) -> str:
    """A field of fstab or of ``/proc/swaps`` with its octal escapes (such as ``\\040`` for a blank) resolved."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), field)


def rows(text: str) -> list[Row]:
    """All rows for swap."""
    return [row for number, line in enumerate(text.split("\n"), 1) for row in [_row(number, line)] if row]


def _row(number: int, line: str) -> Row | None:
    fields = line.split()
    if len(fields) < 3 or fields[0].startswith("#") or fields[2] != "swap":
        return None
    return Row(number, unescaped(fields[0]), tuple(fields[3].split(",")) if len(fields) > 3 else ())


def commented(text: str, devices: Collection[str] | None = None) -> str:
    """The text with rows taken out that switch swap on at boot; all else stays byte for byte.

    :param devices: only rows of these devices; all where it is None
    """
    lines = text.split("\n")
    for row in rows(text):
        if row.at_boot and (devices is None or row.device in devices):
            lines[row.line - 1] = PREFIX + lines[row.line - 1]
    return "\n".join(lines)


def restored(text: str) -> str:
    """The text with the rows put back that :func:`commented` took out, whatever else was changed meanwhile."""
    return "\n".join(line.removeprefix(PREFIX) for line in text.split("\n"))
