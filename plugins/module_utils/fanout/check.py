# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host can take a payload, before the first byte: an edge, it looks at files and the file system."""

from __future__ import annotations

import getpass
import os
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import disk
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size

# Bytes that are left free, for a file system that is full to the last byte stops others.
MARGIN = 1 << 30


def check(order: Order) -> dict[str, Any]:
    """Look at what is there.

    :returns: bytes ``kept`` and ``needed``, ``free`` (None when the file system does not say), ``writable``, and what
        is wrong in sentences, ``problems``
    """
    place, payload = order.place, order.payload
    missing = [file for file in payload.files if not place.is_there(file)]
    received = [place.received(file) for file in missing]
    needed = sum(file.size for file in missing) - sum(there for there, _taken in received)
    to_take = sum(file.size for file in missing) - sum(taken for _there, taken in received)
    free = disk.free(place.root)
    problems = []
    if missing and free is not None and to_take + MARGIN > free:
        problems.append(
            f"{order.what} needs {size(to_take)} at {place.root} and {size(MARGIN)} to spare, found {size(free)} free. "
            "Make room, or choose another disk."
        )
    locked = _not_writable(place.root, place.staging, payload.repository) if missing else ""
    if locked:
        owner = os.stat(locked)
        problems.append(
            f"{locked} cannot be written by {_user()} (owner {owner.st_uid}:{owner.st_gid}, mode "
            f"{owner.st_mode & 0o7777:04o}). Give it to that user with chown."
        )
    return {
        "kept": payload.size - sum(file.size for file in missing),
        "needed": needed,
        "free": free,
        "writable": not locked,
        "problems": problems,
    }


def _not_writable(root: str, staging: str, repository: str) -> str:
    """The first folder that would be written and cannot be; empty when there is none."""
    inner = [os.path.join(root, repository, name) for name in ("", "blobs", "snapshots", "refs")] if repository else []
    for folder in dict.fromkeys(disk.nearest(path) for path in [root, staging, *inner]):
        if not os.access(folder, os.W_OK | os.X_OK):
            return folder
    return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        return str(os.getuid())
