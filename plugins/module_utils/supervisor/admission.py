# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a replica is ready, and whether it is to get new requests: as a gateway is told. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .drained import Drained
from .state import SERVING


@dataclass(frozen=True)
class Standing:
    """What the supervisor of rank 0 knows of its replica.

    :ivar reason: why the replica is in its phase, or what it waits for; may be empty
    :ivar proven: this run has generated
    :ivar failure: why it has not; empty when it has not been tried yet
    :ivar pressure: that a host of the replica is short of memory, in words
    :ivar running: requests, at the last look at the metrics; None when the engine does not say
    """

    replica: str
    phase: str = ""
    reason: str = ""
    proven: bool = False
    failure: str = ""
    pressure: str = ""
    running: int | None = None
    waiting: int | None = None

    @property
    def could_serve(self) -> bool:
        """Whether all that is left to ask is whether the engine answers now."""
        return self.phase == SERVING and self.proven


def not_ready(standing: Standing, health: str) -> str:
    """Why a replica is not ready, or nothing.

    :param health: why the engine is not healthy now
    """
    if standing.phase != SERVING:
        return standing.reason or f"the replica is in phase {standing.phase or 'unknown'}"
    if not standing.proven:
        return standing.failure or "the first generation is under way"
    return health


def no_news(standing: Standing, drained: Drained | None) -> str:
    """Why a replica that may be ready is to get no new requests, or nothing."""
    if drained is not None:
        return f"draining: {drained.reason}" if drained.reason else "draining"
    return f"short of memory: {standing.pressure}" if standing.pressure else ""


def answer(
    standing: Standing, health: str, drained: Drained | None, told: dict[str, Any], new: bool
) -> tuple[int, dict[str, Any]]:
    """Status and content of ``GET /ready``.

    :param new: whether the question is if it should get new requests
    """
    trouble = not_ready(standing, health)
    refused = trouble or (no_news(standing, drained) if new else "")
    return 503 if refused else 200, {
        "replica": standing.replica,
        "ready": not trouble,
        "phase": standing.phase,
        "reason": refused,
        "draining": asdict(drained) if drained is not None else None,
        "pressure": bool(standing.pressure),
        "requests_running": standing.running,
        "requests_waiting": standing.waiting,
        "told": told,
    }


def agent_line(standing: Standing, drained: Drained | None) -> str:
    """What HAProxy's agent check is told. Whether the replica is ready is the other check's matter."""
    if drained is not None:
        return "drain"
    return "ready up 0%" if standing.pressure else "ready up 100%"
