# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of an endpoint, and how long an answer may take. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ask:
    """One request, ready to be sent.

    :ivar path: below the target's URL, e.g. ``/v1/chat/completions``
    :ivar endpoint: ``chat``, ``completions`` or ``responses``: how its answer is read
    :ivar requested_tokens: number of tokens that the server was forced to make; None where it ends by itself
    :ivar due: when it is to be sent, in seconds since the start (open load); None: as soon as a user is free
    """

    id: int
    path: str
    body: bytes
    endpoint: str
    stream: bool = True
    requested_tokens: int | None = None
    due: float | None = None


@dataclass(frozen=True)
class Limits:
    """The client's own patience, in seconds: to connect, for the first byte of the answer, between two pieces of it,
    and for all of it."""

    connect_s: float = 10.0
    ttft_s: float = 300.0
    idle_s: float = 120.0
    total_s: float = 1800.0


def limits_from(values: Mapping[str, Any]) -> Limits:
    """Read the ``limits`` of an order; what is missing has its default."""
    return Limits(**{name: float(values[name]) for name in Limits.__dataclass_fields__ if values.get(name) is not None})
