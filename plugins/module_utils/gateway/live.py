# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the gateway of a host is. An edge: it reads files, and asks systemd and HAProxy."""

from __future__ import annotations

import hashlib
import json
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import decide, programs, stats, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.apply import Gateway
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import State

# Seconds for HAProxy to tell how it is.
PATIENCE = 5.0


def look(gateway: Gateway) -> dict[str, Any]:
    """What ``gateway_info`` says of the gateway that is there."""
    places = gateway.places
    record = gateway.folder.record() if places.unit(units.FRONT).exists() else {}
    names = [name for name in decide.UNITS if places.unit(name).exists()]
    states = [gateway.services[name].state() for name in names]
    return {
        "present": bool(names),
        "provider": record.get("provider", ""),
        "listen": record.get("listen", {}),
        "active": active(states),
        "since": states[0].since if states else None,
        "files_digest": _digest(gateway),
        "certificate": record.get("certificate") or None,
        "stats": _stats(gateway, record.get("deployments", [])) if names else None,
    }


def active(states: Sequence[State]) -> str:
    """One word for all units: as bad as the worst."""
    if states and all(state.active in decide.UP for state in states):
        return "active"
    # One that ends again and again is starting whenever one looks.
    return "failed" if any(state.active in ("failed", "activating") for state in states) else "inactive"


def _digest(gateway: Gateway) -> str:
    try:
        content = gateway.folder.content()
    except OSError:
        return ""
    rows = [[name, one.mode, hashlib.sha256(one.data).hexdigest()] for name, one in sorted(content.items())]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest() if rows else ""


def _stats(gateway: Gateway, deployments: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    try:
        said = ask(gateway.places.socket, stats.COMMAND)
    except OSError:
        return None
    journal = gateway.services[units.FRONT].warnings(stats.LINES, stats.LEVEL)
    return {
        "deployments": stats.parse(said, deployments),
        "last_failover": stats.last_failover(journal, deployments, time.time()),
    }


def ask(path: Path, command: str) -> str:
    """HAProxy's answer to a command.

    :raises OSError: it does not run, or takes its time
    """
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(PATIENCE)
        asked.connect(str(path))
        asked.sendall(command.encode())
        return b"".join(iter(lambda: asked.recv(65536), b"")).decode("utf-8", "replace")


def venv_ready(venv: str, requirement: str) -> bool:
    """Whether a virtual environment has what pip was asked for."""
    folders = [path.name for path in Path(venv).glob("lib/python3*/site-packages/*.dist-info")] if requirement else []
    return not requirement or programs.is_ready(requirement, folders)
