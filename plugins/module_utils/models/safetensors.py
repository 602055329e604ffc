# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The header of a safetensors file, and whether the file is as long as it says.

A file is an 8-byte length, a JSON object of so many bytes with the place of each tensor, and the tensors.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

LENGTH_BYTES = 8
# The library itself refuses longer headers.
MOST_HEADER_BYTES = 100_000_000
_METADATA = "__metadata__"


def header_bytes(start: bytes, size: int) -> int:
    """Length of the header.

    :param start: the first 8 bytes of the file
    :param size: size of the file in bytes
    :raises ValueError: it cannot be one
    """
    if len(start) < LENGTH_BYTES:
        raise ValueError(f"only {size} bytes")
    length = int(struct.unpack("<Q", start)[0])
    if length > MOST_HEADER_BYTES:
        raise ValueError("no header of safetensors")
    if LENGTH_BYTES + length > size:
        raise ValueError(f"{size} bytes, its header alone has {LENGTH_BYTES + length}")
    return length


def tensors(text: bytes, size: int) -> dict[str, Mapping[str, Any]]:
    """The tensors of a file by name: ``dtype``, ``shape`` and ``data_offsets``.

    :param text: the header
    :param size: size of the file in bytes
    :raises ValueError: the header cannot be read, or the file is not as long as it says
    """
    try:
        found = json.loads(text)
        found.pop(_METADATA, None)
        wanted = LENGTH_BYTES + len(text) + _end(found)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise ValueError("no header of safetensors") from None
    if size != wanted:
        raise ValueError(f"{size} bytes, wanted {wanted}")
    return found


def _end(tensors_of_file: Mapping[str, Any]) -> int:
    """Where the last tensor ends. A large model has a hundred thousand tensors, so the loop is plain."""
    end = 0
    for tensor in tensors_of_file.values():
        if not (isinstance(tensor["dtype"], str) and isinstance(tensor["shape"], list)):
            raise TypeError
        last = tensor["data_offsets"][1]
        if last > end:
            end = last
    return end
