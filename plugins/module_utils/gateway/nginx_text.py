# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How nginx's configuration is written: blocks, quoting, addresses; and the two errors that name replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import paths


def block(head: str, lines: Sequence[str]) -> list[str]:
    """Return a block with its lines indented."""
    return [f"{head} {{", *(f"    {line}" for line in lines), "}"]


def literal(text: str) -> str:
    """Return JSON, a path or a name as one word.

    A dollar sign would begin a variable, and nginx has no escape for it; JSON has one.
    """
    escaped = text.replace("$", "\\u0024").replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def with_port(address: str, port: int) -> str:
    """Return address and port as nginx reads them; an IPv6 address gets its brackets."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _names(replicas: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{replica['name']} on {replica['host']}" for replica in replicas)


def none_reached(deployment: Mapping[str, Any]) -> str:
    """Return the error for a request that no replica could be given; nginx knows no more of them than this."""
    return paths.error(
        f"No replica of {deployment['served_model_name']} is ready: none of {_names(deployment['replicas'])} answers.",
        "no_replica",
        "server_error",
    )


def pinned_away(deployment: Mapping[str, Any]) -> str:
    """Return the error for a stored response whose replica does not answer."""
    return paths.error(
        f"{paths.RESPONSES} goes to {_names(deployment['replicas'][:1])} alone, for no other replica knows its earlier "
        "responses; it is not ready.",
        "replica_not_ready",
        "server_error",
    )
