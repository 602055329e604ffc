# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NVIDIA runtime in Docker's ``daemon.json``. Pure."""

from __future__ import annotations

import json
from typing import Any

DAEMON_JSON = "/etc/docker/daemon.json"


def _read(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text or "{}")
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def named(text: str) -> bool:
    """Whether ``daemon.json`` has the runtime."""
    runtimes = (_read(text) or {}).get("runtimes")
    return isinstance(runtimes, dict) and "nvidia" in runtimes


def only_added(before: str, now: str) -> bool:
    """Whether the runtime is all that ``daemon.json`` has more than before, so that the old text may come back."""
    old, new = _read(before), _read(now)
    if old is None or new is None or not named(now):
        return False
    runtimes = {name: one for name, one in new["runtimes"].items() if name != "nvidia"}
    rest = {key: value for key, value in new.items() if key != "runtimes"}
    return old == (rest if not runtimes and "runtimes" not in old else {**rest, "runtimes": runtimes})
