# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All groups of checks together."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import (
    docker,
    gpu,
    kernel,
    machine,
    memory,
    network,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import IDS
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

GROUPS = {
    "machine": machine,
    "gpu": gpu,
    "memory": memory,
    "kernel": kernel,
    "docker": docker,
    "network": network,
}


def sources(want: Want) -> Sources:
    """What to read and run on the host."""
    found = Sources()
    for group in GROUPS.values():
        found = found | group.sources(want)
    return found


def checks(raw: Raw, want: Want) -> list[Check]:
    """The answers of all groups."""
    return [check for group in GROUPS.values() for check in group.checks(raw, want)]


def facts(raw: Raw, want: Want) -> dict[str, Any]:
    """What is said of the host beside the checks, by group."""
    return {name: group.facts(raw, want) for name, group in GROUPS.items()}


def in_order(found: list[Check]) -> list[Check]:
    """Checks in the order in which they are shown."""
    return sorted(found, key=lambda check: IDS.index(check.id))
