# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a collective test printed: the table of nccl-tests, which our own script prints too, and NCCL's log."""

from __future__ import annotations

import re
from dataclasses import dataclass

# size count type redop root time algbw busbw #wrong, then the same four for in-place; older versions have no root.
_ROW = re.compile(
    r"^\s*(?P<size>\d+)\s+\d+\s+[a-z]\w*\s+(?:\w+\s+)?(?:-?\d+\s+)?"
    r"(?P<time>\d+(?:\.\d+)?)\s+(?P<algbw>\d+\.\d+)\s+(?P<busbw>\d+\.\d+)\s+(?P<wrong>\S+)"
    r"(?:\s+\d+(?:\.\d+)?\s+\d+\.\d+\s+(?P<inplace>\d+\.\d+)\s+\S+)?\s*$",
    re.MULTILINE,
)
_NETWORK = re.compile(r"NCCL INFO (?:Using network|Initialized NET plugin) (\w+)")
_NO_DEVICE = re.compile(r"NCCL INFO NET/IB\s*: No device found")


@dataclass(frozen=True)
class Row:
    """One size.

    :ivar size: bytes that every rank has in the end
    :ivar microseconds: time of one all-gather
    :ivar busbw: bus bandwidth in GB/s, the better one of out-of-place and in-place
    :ivar wrong: whether values did not arrive as they were sent
    """

    size: int
    microseconds: float
    busbw: float
    wrong: bool


def rows(text: str) -> list[Row]:
    """The rows of the table, in their order; none when there is no table."""
    return [
        Row(
            size=int(match["size"]),
            microseconds=float(match["time"]),
            busbw=max(float(match["busbw"]), float(match["inplace"] or 0)),
            wrong=match["wrong"] not in ("0", "N/A", "0e+00"),
        )
        for match in _ROW.finditer(text)
    ]


def best(text: str) -> Row:
    """The row of the greatest bus bandwidth.

    :raises ValueError: when there is no row, or when data arrived wrong, with the reason
    """
    found = rows(text)
    if not found:
        raise ValueError(_words(text))
    if any(row.wrong for row in found):
        raise ValueError("data arrived wrong: the memory or the link of one of the hosts is faulty")
    return max(found, key=lambda row: row.busbw)


def network(log: str) -> str:
    """The network that NCCL says it uses: ``IB``, ``Socket``, the name of a plugin, or nothing."""
    names = _NETWORK.findall(log)
    return str(names[-1]) if names else ""


def is_sockets(log: str) -> bool:
    """Whether NCCL has fallen back to TCP (field fault D11)."""
    used = network(log)
    return used == "Socket" or (not used and _NO_DEVICE.search(log) is not None)


def _words(text: str) -> str:
    """The last line of a log that is not NCCL's chatter."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and "NCCL INFO" not in line]
    return lines[-1][-200:] if lines else "the container said nothing"
