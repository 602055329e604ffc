# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults in a configuration: one line each, all of them reported together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

# So many hosts are named in one line; of more, the first ones and their number.
MOST_HOSTS = 4


@dataclass(frozen=True)
class Fault:
    """One fault of the configuration, in the words a user needs to mend it.

    :ivar variable: where it stands, e.g. ``serving_deployments[0].replicas[1]``
    :ivar found: what stands there now
    :ivar wanted: what would be right
    :ivar remedy: what to do, an imperative sentence without its full stop
    :ivar host: the host it concerns; empty when it concerns all
    """

    variable: str
    found: str
    wanted: str
    remedy: str
    host: str = ""


class ConfigurationError(Exception):
    """Every fault that was found, at least one; ``str()`` is the text for the user."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        lines = _lines(self.faults)
        head = "1 error" if len(lines) == 1 else f"{len(lines)} errors"
        numbered = [f"  {number}. {line}" for number, line in enumerate(lines, 1)]
        super().__init__("\n".join([f"The configuration has {head}; nothing was changed.", *numbered]))


def _lines(faults: Iterable[Fault]) -> list[str]:
    """One line per fault; a fault of a group variable, which every host shows, is said once."""
    hosts: dict[Fault, list[str]] = {}
    for fault in faults:
        hosts.setdefault(replace(fault, host=""), []).append(fault.host)
    return [
        f"{fault.variable}{_places(names)}: found {fault.found}, wanted {fault.wanted}. {fault.remedy}."
        for fault, names in hosts.items()
    ]


def _places(names: list[str]) -> str:
    named = [name for name in names if name]
    if not named:
        return ""
    if len(named) == 1:
        return f" on host {named[0]}"
    if len(named) > MOST_HOSTS:
        return f" on {len(named)} hosts ({', '.join(named[:MOST_HOSTS])}, ...)"
    return f" on hosts {', '.join(named)}"
