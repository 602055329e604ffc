# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one request got, as it came: pieces with their stamps. Read after the round, not while it runs. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask


@dataclass(slots=True)
class Reply:
    """One request and all that came of it; times are seconds on the round's clock.

    :ivar user: number of the user who sent it
    :ivar connect_s: what opening the connection took; None when it was open before
    :ivar status: of the reply; None when there was none
    :ivar kind: of the failure that was seen on the wire; empty when the reply ended as it should
    :ivar message: its words
    :ivar again: it was sent a second time, over a new connection: the kept one had been closed before
    :ivar stamps: when each piece was received; `lengths`: how long it was; `raw`: all of them in a row
    """

    ask: Ask
    user: int
    t_write: float
    t_sched: float | None = None
    connect_s: float | None = None
    t_end: float = 0.0
    kind: str = ""
    message: str = ""
    status: int | None = None
    again: bool = False
    stamps: array[float] = field(default_factory=lambda: array("d"))
    lengths: array[int] = field(default_factory=lambda: array("L"))
    raw: bytearray = field(default_factory=bytearray)

    def add(self, stamp: float, piece: bytes) -> None:
        """Take a piece."""
        self.raw += piece
        self.lengths.append(len(piece))
        self.stamps.append(stamp)

    def received(self) -> Iterator[tuple[float, bytes]]:
        """Give each piece with its stamp."""
        at = 0
        for stamp, length in zip(self.stamps, self.lengths, strict=True):
            yield stamp, bytes(self.raw[at : at + length])
            at += length
