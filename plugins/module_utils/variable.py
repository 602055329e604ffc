# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of one variable that a user may set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Variable:
    """One variable of the contract.

    :ivar scope: ``deployment`` (also a key of an entry of ``serving_deployments``, without the prefix),
        ``host`` or ``all``
    :ivar minimum: least value of a number, itself allowed
    :ivar maximum: greatest value of a number, itself allowed
    :ivar short: the name under which ``-e`` takes it too
    """

    name: str
    kind: str
    description: str
    default: Any = None
    scope: str = "deployment"
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    short: str = ""

    @property
    def key(self) -> str:
        """The name as a key of a deployment."""
        return self.name.removeprefix("serving_")
