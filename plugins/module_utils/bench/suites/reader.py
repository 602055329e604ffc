# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes values out of a mapping of a data file and gathers all that is wrong with them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import misspelt_key, named_list, show

MOST_SECONDS = 86400

Check = Callable[[Any], bool]


def is_number(value: Any) -> bool:
    """Whether a value is a number, and neither true nor false nor "not a number" nor infinite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_whole(value: Any, most: int) -> bool:
    """Whether a value is a whole number from 1 to ``most``."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


class Reader:
    """One mapping of a file.

    :ivar faults: what was wrong with the values that were taken so far
    """

    def __init__(self, place: str, document: Mapping[str, Any]) -> None:
        self._place = place
        self._document = document
        self.faults: list[Fault] = []

    def unknown(self, keys: Sequence[str]) -> None:
        """Note the keys that mean nothing here."""
        self.faults += [misspelt_key(self._place, str(key), keys) for key in self._document if key not in keys]

    def value(self, key: str, default: Any, check: Check, wanted: str, needed: bool = False) -> Any:
        """The value of a key; the default where there is none, or a wrong one."""
        if key not in self._document and not needed:
            return default
        value = self._document.get(key)
        if not check(value):
            self.faults.append(Fault(f"{self._place}.{key}", show(value), wanted, f"Set it to {wanted}"))
            return default
        return value

    def whole(self, key: str, default: int, most: int) -> int:
        """A whole number of 1 or more."""
        found: int = self.value(key, default, lambda value: is_whole(value, most), f"a whole number from 1 to {most}")
        return found

    def seconds(self, key: str, default: float) -> float:
        """A length of time."""
        wanted = f"seconds from 0 to {MOST_SECONDS}"
        found = self.value(key, default, lambda value: is_number(value) and 0 <= value <= MOST_SECONDS, wanted)
        return float(found)

    def several(self, key: str, default: Sequence[str], choices: Sequence[str]) -> tuple[str, ...]:
        """A list of one or more of the choices."""

        def check(value: Any) -> bool:
            return isinstance(value, list) and bool(value) and all(entry in choices for entry in value)

        return tuple(self.value(key, list(default), check, f"a list of {named_list(choices)}"))

    def all_of(
        self, key: str, default: Sequence[Any], check: Check, wanted: str, needed: bool = False
    ) -> tuple[Any, ...]:
        """A list, not empty, of entries that each are right."""

        def checked(value: Any) -> bool:
            return isinstance(value, list) and bool(value) and all(check(entry) for entry in value)

        return tuple(self.value(key, list(default), checked, wanted, needed))
