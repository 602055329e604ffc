# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt would do, from its own simulation. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_UNKNOWN = re.compile(r"E: (?:Unable to locate package (\S+)|Package '?(\S+?)'? has no installation candidate)")


@dataclass(frozen=True)
class Offer:
    """What an installation would bring.

    :ivar new: all packages that are not there yet, those that others need too
    :ivar unknown: those asked for that apt does not know
    :ivar reason: why apt would do nothing at all; empty when it would
    """

    new: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    reason: str = ""


def simulate(action: str, names: Iterable[str]) -> list[str]:
    """The command whose answer the functions here read.

    :param action: ``install`` or ``remove``
    """
    return ["apt-get", "--simulate", "--quiet", "--no-install-recommends", action, *names]


def offer(out: str, err: str) -> Offer:
    """Read a simulated installation."""
    unknown = tuple(one or other for one, other in _UNKNOWN.findall(err))
    # A package that is replaced has its old version in brackets behind its name.
    new = tuple(re.findall(r"^Inst (\S+) \(", out, re.MULTILINE))
    errors = [line for line in err.splitlines() if line.startswith("E: ")]
    return Offer(new, unknown, "" if unknown or not errors else errors[0][3:])


def strangers(out: str, ours: Sequence[str]) -> list[str]:
    """Packages that a simulated removal takes along and that are not among ``ours``."""
    return [name for name in re.findall(r"^(?:Remv|Purg) (\S+)", out, re.MULTILINE) if name not in ours]
