# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The double's `ray`: what a program asks a cluster for that `ray start` made."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from engine_double.ray_cluster import ClusterError, Node, current_cluster, list_nodes

__version__ = "2.60.0"


class _Connection:
    """The cluster that this process is connected to."""

    address: str | None = None


def _nodes(address: str) -> list[Node]:
    try:
        return asyncio.run(list_nodes(address))
    except ClusterError as error:
        raise ConnectionError(str(error)) from None


def init(address: str | None = None, **options: Any) -> dict[str, str]:
    """Connect to a cluster, `auto` being this host's; raises ConnectionError. Options change nothing.

    Unlike Ray's it never starts a cluster of its own.
    """
    if options.get("log_to_driver", True):
        print(f"Connecting to existing Ray cluster at address: {address or 'auto'}...", file=sys.stderr)
    found = current_cluster() if address in {None, "auto"} else address
    if not found:
        raise ConnectionError("Could not find any running Ray instance. Please specify the one to connect to.")
    _nodes(found)
    _Connection.address = found
    return {"address": found}


def is_initialized() -> bool:
    """Say whether this process is connected."""
    return _Connection.address is not None


def nodes() -> list[dict[str, Any]]:
    """Return the cluster's nodes; raises ConnectionError when the head does not answer."""
    if _Connection.address is None:
        raise ConnectionError("Ray has not been started yet: call ray.init() first.")
    return [
        {
            "NodeID": node.identity,
            "Alive": True,
            "NodeManagerAddress": node.ip,
            "NodeManagerHostname": node.ip,
            "NodeName": node.ip,
            "Resources": {"CPU": 1.0, f"node:{node.ip}": 1.0, **({"GPU": float(node.gpus)} if node.gpus else {})},
        }
        for node in _nodes(_Connection.address)
    ]


def shutdown() -> None:
    """Disconnect."""
    _Connection.address = None
