# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of the output of a playbook that runs as a child: its recap, where it is, and its last lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Lines that are shown of a child that failed.
TAIL = 30

_RECAP = re.compile(r"^(?P<host>\S+)\s+:\s+(?P<counts>ok=\d+ .*)$")
_COUNT = re.compile(r"(\w+)=(\d+)")
_TASK = re.compile(r"^(?:TASK|RUNNING HANDLER) \[(?P<name>.+)\] \**$")
_CHANGED = re.compile(r"^changed: \[(?P<host>[^\]]+)\]")


@dataclass(frozen=True)
class Recap:
    """How a play ended.

    :ivar changed: how many tasks changed something, by host; empty when the output has no recap
    :ivar failed: hosts on which a task failed, or that were not reached
    """

    changed: dict[str, int]
    failed: tuple[str, ...]


def recap(text: str) -> Recap:
    """Read the ``PLAY RECAP``, which stands at the end."""
    _before, found, after = text.rpartition("PLAY RECAP")
    changed = {}
    failed = []
    for line in after.splitlines() if found else ():
        match = _RECAP.match(line.strip())
        if match:
            counts = {name: int(value) for name, value in _COUNT.findall(match["counts"])}
            changed[match["host"]] = counts.get("changed", 0)
            if counts.get("failed") or counts.get("unreachable"):
                failed.append(match["host"])
    return Recap(changed, tuple(failed))


def last_task(text: str) -> str:
    """Name of the task that was begun last; empty before the first.

    >>> last_task("TASK [image : Image | Pull] ****\\nok: [spark1]\\n")
    'image : Image | Pull'
    """
    names = [match["name"] for line in text.splitlines() if (match := _TASK.match(line))]
    return names[-1] if names else ""


def changed_tasks(text: str) -> list[str]:
    """Which tasks changed something, in words: ``spark1: replica : Replica | Make the rank's container``."""
    found = []
    task = ""
    for line in text.splitlines():
        match = _TASK.match(line)
        task = match["name"] if match else task
        changed = _CHANGED.match(line)
        if changed:
            found.append(f"{changed['host']}: {task}")
    return list(dict.fromkeys(found))


def tail(text: str) -> str:
    """The last lines that say something."""
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-TAIL:])
