# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which time-out a connection has run into. Pure."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import OPEN, Link

_LIMITS = {
    failures.TIMEOUT_CONNECT: "connect_s",
    failures.TIMEOUT_TTFT: "ttft_s",
    failures.TIMEOUT_IDLE: "idle_s",
    failures.TIMEOUT_TOTAL: "total_s",
}


def overdue(link: Link, limits: Limits, now: float, clock: float) -> str:
    """Kind of the time-out; empty when there is none.

    :param now: seconds since ``clock``, which the connection's own stamps are counted from
    """
    reply = link.reply
    if link.state is not OPEN:
        return failures.TIMEOUT_CONNECT if now + clock - link.began > limits.connect_s else ""
    if reply is None:
        return ""
    if now - reply.t_write > limits.total_s:
        return failures.TIMEOUT_TOTAL
    if not link.ending.begun:
        return failures.TIMEOUT_TTFT if now - reply.t_write > limits.ttft_s else ""
    return failures.TIMEOUT_IDLE if now - link.last > limits.idle_s else ""


def overdue_words(kind: str, limits: Limits) -> str:
    """Say that it was our own time-out, and which."""
    return failures.waited(kind, getattr(limits, _LIMITS[kind]))


def shortest(limits: Limits) -> float:
    """The shortest of all, in seconds."""
    return min(float(getattr(limits, name)) for name in _LIMITS.values())
