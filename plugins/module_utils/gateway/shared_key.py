# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one key that the gateway shows to engines: all of its hosts and theirs must have the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """:ivar lacking: hosts that have no key, or another one
    :ivar problem: why there is no choice, a sentence; empty when there is one
    """

    key: str
    lacking: tuple[str, ...]
    problem: str = ""


def choose(hosts: Sequence[str], keys: Mapping[str, str], fresh: str) -> Choice:
    """Choose the key of all hosts: the one that is there already, or a fresh one.

    :param hosts: all that share the key, those of gateways first
    :param keys: what each host of this run has; empty text for none
    """
    key = next((keys[host] for host in hosts if keys.get(host)), "")
    out = [host for host in hosts if host not in keys]
    if not key and out:
        words = f"found no key on {', '.join(keys)}, and {', '.join(out)}, which may have it, {_are(out)} not here"
        return Choice("", (), f"{words}. Run once without --limit and with all of these hosts up.")
    key = key or fresh
    return Choice(key, tuple(host for host in hosts if host in keys and keys[host] != key))


def _are(hosts: Sequence[str]) -> str:
    return "is" if len(hosts) == 1 else "are"
