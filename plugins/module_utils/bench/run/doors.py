# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The targets of an order with their keys, which are read on this host alone. An edge: it reads files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target, target_from
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault


@dataclass(frozen=True)
class Door:
    """A target and the engines behind it.

    :ivar entry: the target as it stands in the order
    :ivar target: what is measured
    :ivar engines: whose /metrics and /tokenize are asked, past any gateway
    :ivar mute: URLs of engines whose /tokenize did not answer in time: they are not asked again
    """

    entry: Mapping[str, Any]
    target: Target
    engines: tuple[Target, ...]
    mute: set[str] = field(default_factory=set, compare=False)

    @property
    def counting(self) -> tuple[Target, ...]:
        """Engines whose counters tell of all requests: none where one behind the target cannot be asked."""
        return () if self.entry.get("unread") else self.engines

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def model(self) -> str:
        return str(self.entry["served_model_name"])


def doors(order: Mapping[str, Any]) -> tuple[dict[str, Door], list[Fault]]:
    """Read the keys of all targets, and what is wrong with their files."""
    found: dict[str, Door] = {}
    faults: list[Fault] = []
    for entry in order["targets"]:
        key, wrong = _key(entry["name"], entry.get("key_file") or "")
        faults += wrong
        engines = []
        for engine in entry.get("engines") or ():
            own, wrong = _key(entry["name"], engine.get("key_file") or "")
            faults += wrong
            # Engines are asked directly: a proxy is for the targets that it was given for.
            engines.append(target_from({**entry, **engine, "name": engine.get("replica") or entry["name"]}, own))
        target = target_from(entry, key, order.get("proxy") or "")
        found[target.name] = Door(entry, target, tuple(engines))
    return found, faults


def _key(name: str, path: str) -> tuple[str, list[Fault]]:
    """The key in a file, and what is wrong with that; no text shows it."""
    if not path:
        return "", []
    wanted, remedy = "a file with the key alone", "Lay the key there with mode 0600, or run as the user who may read it"
    try:
        key = Path(path).read_text(encoding="ascii").strip()
    except OSError as error:
        return "", [Fault(f"key file of target {name}", f"{path}: {error.strerror}", wanted, remedy)]
    except ValueError:
        return "", [Fault(f"key file of target {name}", f"{path} with other than ASCII characters", wanted, remedy)]
    if not key or len(key.split()) != 1:
        found = f"{path} with {len(key.split())} words"
        return "", [Fault(f"key file of target {name}", found, wanted, remedy)]
    return key, []
