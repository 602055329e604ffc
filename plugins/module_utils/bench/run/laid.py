# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's key and certificates on the client host while a run needs them. An edge: it removes files.

Ansible runs no ``always`` when it is interrupted, so the role alone cannot be the one to remove them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

KEY, CA = "key", "ca.pem"


def laid_path(run_id: str, name: str) -> str:
    """Where the role lays a file of a run; in memory, so that a reboot takes it at the latest.

    :param name: ``KEY`` or ``CA``
    """
    return f"/run/dgxspark-benchmark-{run_id}.{name}"


def laid_keys(order: Mapping[str, Any]) -> list[str]:
    """The key that was laid for this run, if one was. All other files of an order belong to somebody else."""
    return _used(order, KEY, "key_file")


def laid_files(order: Mapping[str, Any]) -> list[str]:
    """All that was laid for this run."""
    return [*laid_keys(order), *_used(order, CA, "ca_file")]


def remove(paths: Iterable[str]) -> None:
    """Remove files; that one cannot be removed ends no run."""
    for path in paths:
        with contextlib.suppress(OSError):
            Path(path).unlink(missing_ok=True)


def _used(order: Mapping[str, Any], name: str, field: str) -> list[str]:
    path = laid_path(str(order["run"]["id"]), name)
    entries = [entry for target in order["targets"] for entry in (target, *(target.get("engines") or ()))]
    return [path] if any(entry.get(field) == path for entry in entries) else []
