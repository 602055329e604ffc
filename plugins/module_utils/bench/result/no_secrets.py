# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes out of a result what nobody else may read: keys, the paths of key files, and passwords in URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = "********"

_WORDS = r"(?:api[_-]?key|token|password|passwd|secret|authorization|credential)"
_FLAG = re.compile(rf"--?[a-z0-9_-]*{_WORDS}", re.IGNORECASE)
_NAME = re.compile(rf"{_WORDS}$", re.IGNORECASE)
_DROPPED = ("key_file", "engine_key_file", "ca_file")
# Within a sentence or a command line: the first group stays, what follows it does not.
_SAID = (
    re.compile(rf"(\b[A-Z0-9_]*{_WORDS}=|--?[a-z0-9_-]*{_WORDS}[= ])[^\s'\"]+", re.IGNORECASE),
    re.compile(r"(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/@\s]+(?=@)", re.IGNORECASE),
    re.compile(r"(\bsk-|\bhf_)[A-Za-z0-9_-]{8,}"),
)


def without(value: Any) -> Any:
    """The same document without secrets, whatever its shape."""
    if isinstance(value, Mapping):
        return {key: _kept(str(key), item) for key, item in value.items() if key not in _DROPPED}
    if isinstance(value, (list, tuple)):
        return _arguments(value)
    return text(value) if isinstance(value, str) else value


def text(said: str) -> str:
    """A sentence or a command line without what looks like a key."""
    for pattern in _SAID:
        said = pattern.sub(rf"\g<1>{MASK}", said)
    return said


def _kept(key: str, item: Any) -> Any:
    return MASK if _NAME.search(key) and isinstance(item, str) and item else without(item)


def _arguments(items: Sequence[Any]) -> list[Any]:
    """A list, which may be a command line: the values after the flag of a key are not shown; it may have several."""
    shown: list[Any] = []
    hidden = False
    for before, item in zip([None, *items], items, strict=False):
        flag = isinstance(item, str) and bool(_FLAG.fullmatch(item))
        first = isinstance(before, str) and bool(_FLAG.fullmatch(before))
        hidden = isinstance(item, str) and (first or (hidden and not item.startswith("-")))
        shown.append(MASK if hidden else item if flag else without(item))
    return shown
