# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables and commands on the user's screen, whatever the verbosity."""

from __future__ import annotations

from collections.abc import Iterable

from ansible.utils.display import Display


def show(lines: Iterable[str]) -> None:
    """Print lines with an empty one before and after."""
    for line in ["", *lines, ""]:
        Display().display(line)
