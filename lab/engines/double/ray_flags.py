# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flags of `ray` commands, of which any may be there."""

from __future__ import annotations

import re

#: Flags without a value.
SWITCHES = re.compile(r"(head|block|force|enable|disable|no)(-|$)")


def split_flags(arguments: list[str]) -> dict[str, str]:
    """Return each flag (without dashes, with `-` for `_`) with its value, "" when it has none; raises ValueError."""
    flags: dict[str, str] = {}
    given = list(arguments)
    while given:
        argument = given.pop(0)
        if not argument.startswith("--"):
            raise ValueError(f"Got unexpected extra argument ({argument})")
        name, equals, value = argument[2:].partition("=")
        name = name.replace("_", "-")
        if not equals and not SWITCHES.match(name) and given and not given[0].startswith("--"):
            value = given.pop(0)
        flags[name] = value
    return flags
