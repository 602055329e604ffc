# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as the text of its file: JSON that is short and yet can be compared line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# So deep each key or item has a line of its own; what is deeper stands on the line of what holds it.
DEPTH = 2


def text(document: Mapping[str, Any]) -> str:
    """The file; NaN and infinity, which JSON does not have, are refused with a ValueError."""
    return _lines(document, DEPTH, "") + "\n"


def _lines(value: Any, depth: int, indent: str) -> str:
    if depth and isinstance(value, Mapping) and value:
        inner = [f"{_compact(str(key))}: {_lines(item, depth - 1, indent + ' ')}" for key, item in value.items()]
        return _block("{", inner, "}", indent)
    if depth and isinstance(value, list) and value:
        return _block("[", [_lines(item, depth - 1, indent + " ") for item in value], "]", indent)
    return _compact(value)


def _block(begin: str, inner: list[str], end: str, indent: str) -> str:
    return f"{begin}\n" + ",\n".join(f"{indent} {line}" for line in inner) + f"\n{indent}{end}"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
