# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One order to a host: what to move, between whom, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import Payload
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.place import Place


@dataclass(frozen=True)
class Order:
    """What a host has to do.

    :ivar what: the payload in the words of the user
    :ivar listen: addresses at which others may ask; none when nobody comes after this host
    :ivar peers: addresses that are answered
    :ivar upstreams: addresses of each host that may be asked, nearest first
    :ivar streams: number of files that are received at once
    :ivar stall: seconds without a byte after which a host counts as dead
    """

    what: str
    payload: Payload
    place: Place
    listen: Sequence[str]
    port: int
    peers: Sequence[str]
    upstreams: Sequence[Sequence[str]]
    token: str
    streams: int
    stall: float
