# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the names on the command line to engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from lab.engines.engine import Engine


def chosen_engines(names: Sequence[str]) -> list[Engine]:
    """Return the engines of --engine options, in their order; raises LabError for one that does not exist."""
    wanted = [name for name in dict.fromkeys(names) if name != "none"]
    if not wanted:
        return []
    from lab.engines import ENGINES  # here, so that only who asks for an engine loads the builders

    for name in wanted:
        if name not in ENGINES:
            raise LabError(f"There is no lab engine '{name}'; there are {', '.join(sorted(ENGINES))} and none.")
    return [ENGINES[name] for name in wanted]
