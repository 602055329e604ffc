# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the hosts of a lab's inventory: names and management addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def hosts_of(inventory: dict[str, Any]) -> dict[str, str]:
    """Return address by host name, for all groups of an inventory's hosts.yml, in the order of the file.

    A host's `ansible_host` may stand in one group and its name in another; without one the name is the address.
    """
    found: dict[str, str] = {}

    def walk(groups: dict[str, Any]) -> None:
        for group in groups.values():
            for name, variables in ((group or {}).get("hosts") or {}).items():
                address = (variables or {}).get("ansible_host")
                found[name] = address or found.get(name, name)
            walk((group or {}).get("children") or {})

    walk(inventory)
    return found


def read_hosts(folder: Path) -> dict[str, str]:
    """Return address by host name from an inventory folder; raises OSError or yaml.YAMLError when it is unreadable."""
    return hosts_of(yaml.safe_load((folder / "hosts.yml").read_text(encoding="utf-8")))
