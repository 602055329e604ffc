# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of life of a run: they keep its lock and put off the moment when a host takes its change back."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace

from . import journal, lock
from .hostpaths import HostPaths, write_whole


def renew(
    run: str, lease: float = lock.DEFAULT_LEASE, paths: HostPaths | None = None, now: float | None = None
) -> bool:
    """Renew the lock and the deadline of the change, as far as they are this run's.

    :param lease: seconds from now that both last
    :returns: whether anything on this host is this run's
    """
    paths = paths or HostPaths()
    now = time.time() if now is None else now
    mine = False
    with lock.guarded(paths):
        found = lock.read(paths)
        if found is not None and found.run == run:
            mine = True
            write_whole(paths.lock, json.dumps(asdict(replace(found, seen=now))).encode())
        change = journal.read(paths)
        if change is not None and change.run == run:
            mine = True
            journal.write(paths, replace(change, deadline=now + lease))
    return mine
