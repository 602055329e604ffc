# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was installed as the gateway of a host, without its secrets: it lies beside the files. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.decide import Due
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.places import RECORD as NAME
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import FOLDER

MODE = 0o640
# Seconds before its end at which a certificate of ours is made anew.
RENEW = 30 * 86400


@dataclass(frozen=True)
class Record:
    """A gateway that was installed.

    :ivar certificate: ``names``, ``not_after`` (Unix seconds) and ``self_signed``; empty without TLS
    :ivar texts: files by name, with placeholders
    """

    provider: str = ""
    listen: Mapping[str, Any] = field(default_factory=dict)
    deployments: Sequence[Mapping[str, Any]] = ()
    certificate: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Record:
        """Read one; what a future version may have more is left out."""
        return cls(**{name: value for name, value in data.items() if name in cls.__dataclass_fields__})

    def text(self) -> str:
        """As it lies on a host."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def still_good(found: Mapping[str, Any], wanted: Mapping[str, Any], now: float) -> bool:
    """Whether a certificate that we made can stay.

    :param found: the one that is there
    :param wanted: its ``names``
    :param now: Unix seconds
    """
    if not found.get("self_signed") or found.get("names") != wanted.get("names"):
        return False
    return found.get("not_after", 0) - now > RENEW


def differences(
    before: Record, now: Record, due: Due, old_units: Mapping[str, str], new_units: Mapping[str, str]
) -> list[dict[str, str]]:
    """What changes, with placeholders in place of secrets."""
    rows = []
    for name in due.files:
        old, new = before.texts.get(name, ""), now.texts.get(name, "")
        if name != NAME:
            rows.append((f"{FOLDER}/{name}", *((old, new) if old != new else UNSEEN)))
    rows += [(name, old_units.get(name, ""), new_units[name]) for name in due.write]
    rows += [(name, old_units.get(name, ""), "") for name in due.leaving]
    return [{"before_header": name, "after_header": name, "before": old, "after": new} for name, old, new in rows]


# A file whose text is the same has another secret in it, or somebody has changed it.
UNSEEN = ("other secrets, or changed by hand\n", "as described\n")
