# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far work in the background is, as its host writes it down and as people read it. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size

RUNNING, DONE, FAILED = "running", "done", "failed"
GONE = (
    "It ended without a word, as when it is killed, or when the host was started anew or has no memory left."
    " Run again: it goes on where it was."
)


@dataclass(frozen=True)
class Status:
    """How far it is.

    :ivar state: ``running``, ``done`` or ``failed``
    :ivar done: bytes of the work that are done
    :ivar total: bytes in all; 0 when nobody knows
    :ivar text: what it is at
    :ivar seconds: since its start
    :ivar error: why it failed, in sentences
    :ivar result: what it has to say in the end
    :ivar stays: whether its process goes on after the end
    """

    state: str = RUNNING
    done: int = 0
    total: int = 0
    text: str = ""
    seconds: float = 0.0
    error: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    stays: bool = False

    def encoded(self) -> bytes:
        """The status as it is kept in a file."""
        return json.dumps(asdict(self)).encode()

    def public(self) -> dict[str, Any]:
        """What users see of it beside its result."""
        return {name: value for name, value in asdict(self).items() if name not in ("error", "result", "stays")}


def decoded(content: bytes) -> Status:
    """Read a kept status.

    :raises ValueError: when it is none
    """
    try:
        return Status(**json.loads(content))
    except TypeError as error:
        raise ValueError(str(error)) from error


def line(host: str, what: str, now: dict[str, Any], before: dict[str, Any] | None) -> str:
    """One line about work that goes on.

    :param now: what :meth:`Status.public` gave
    :param before: what it gave the last time, from which the rate is made
    """
    words = []
    if now["total"]:
        words.append(f"{size(now['done'])} of {size(now['total'])}")
    elif now["done"]:
        words.append(size(now["done"]))
    seconds = now["seconds"] - before["seconds"] if before else now["seconds"]
    moved = now["done"] - (before["done"] if before else 0)
    if seconds > 0 and moved > 0:
        words.append(f"{moved / 1e9 / seconds:.2f} GB/s")
    words += [now["text"]] if now["text"] else []
    words.append(f"{now['seconds']:.0f} s")
    return f"{host}: {what}: {', '.join(words)}"
