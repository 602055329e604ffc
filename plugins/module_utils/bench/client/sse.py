# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Server-sent events from bytes, by the rules of the WHATWG. Pure.

All is done on bytes: a character cut in two by the network is whole again before anything is decoded, and U+2028 inside
a string ends no line.
"""

from __future__ import annotations

from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its name (empty where it has none) and its data."""

    name: bytes
    data: bytes


class Events:
    """Reads a stream of events, wherever its pieces begin and end."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False  # the place where a byte order mark may stand is behind us
        self._carriage = False  # the last piece ended with CR: an LF at the start of the next belongs to it
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that this piece completes."""
        if not self._begun:
            piece = self._begin(piece)
        if self._carriage and piece:
            piece, self._carriage = piece.removeprefix(b"\n"), False
        if b"\r" in piece:
            self._carriage = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self._rest:
            piece = self._rest + piece
        *lines, self._rest = piece.split(b"\n")
        events: list[Event] = []
        for line in lines:
            if line:
                self._line(line)
            elif self._data:
                events.append(self._dispatch())
            else:
                self._name = b""
        return events

    def close(self) -> list[Event]:
        """The body is complete: give the event that its last lines make although no empty line follows.

        A browser would drop it, but a server that closes its stream properly has sent all of what it meant.
        """
        if self._rest:
            self._line(self._rest)
            self._rest = b""
        return [self._dispatch()] if self._data else []

    def _begin(self, piece: bytes) -> bytes:
        piece = self._rest + piece
        if len(piece) < len(_BOM) and _BOM.startswith(piece):
            self._rest = piece
            return b""
        self._rest, self._begun = b"", True
        return piece.removeprefix(_BOM)

    def _line(self, line: bytes) -> None:
        name, _colon, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name == b"event":
            self._name = value.removeprefix(b" ")

    def _dispatch(self) -> Event:
        event = Event(self._name, self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
        self._name, self._data = b"", []
        return event
