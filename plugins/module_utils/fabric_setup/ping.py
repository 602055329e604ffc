# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether peers answer over the fabric: an edge."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any

PAUSE = 0.5


def silent(peers: Sequence[Mapping[str, str]], mtu: int, seconds: float) -> list[dict[str, Any]]:
    """Those peers that do not answer a whole frame, after so many seconds of trying.

    :param mtu: in bytes; the frame that must pass unfragmented
    :returns: each with ``small``, whether it answers a small packet
    """
    waiting = list(peers)
    until = time.monotonic() + seconds
    while True:
        waiting = _unanswered(waiting, mtu)
        if not waiting or time.monotonic() > until:
            break
        time.sleep(PAUSE)
    reached = _unanswered(waiting, 0)
    return [{**peer, "small": peer not in reached} for peer in waiting]


def _unanswered(peers: Sequence[Mapping[str, str]], mtu: int) -> list[Mapping[str, str]]:
    """One ping to each, side by side."""
    running = []
    for peer in peers:
        headers = 48 if ":" in peer["address"] else 28
        size = ["-M", "do", "-s", str(mtu - headers)] if mtu else []
        # By address, too: a peer answers for its other link as well, and an address that is gone must not seem to work.
        way = ["-I", peer["interface"], "-I", peer["source"]]
        argv = ["ping", "-n", "-q", "-c", "1", "-W", "1", *size, *way, peer["address"]]
        running.append((peer, subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)))
    return [peer for peer, process in running if process.wait()]
