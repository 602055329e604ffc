# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Headers of safetensors files."""

from __future__ import annotations

import json
import struct

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import safetensors

TENSOR = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
HEADER = json.dumps({"w": TENSOR, "__metadata__": {"format": "pt"}}).encode()


def test_a_whole_file() -> None:
    size = 8 + len(HEADER) + 4
    assert safetensors.header_bytes(struct.pack("<Q", len(HEADER)), size) == len(HEADER)
    assert safetensors.tensors(HEADER, size) == {"w": TENSOR}


def test_no_tensors() -> None:
    assert safetensors.tensors(b"{}", 10) == {}


@pytest.mark.parametrize(
    ("start", "size", "message"),
    [
        (b"abc", 3, "only 3 bytes"),
        (struct.pack("<Q", 100), 50, "50 bytes, its header alone has 108"),
        (struct.pack("<Q", 100_000_001), 1 << 40, "no header of safetensors"),
    ],
)
def test_no_length(start: bytes, size: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        safetensors.header_bytes(start, size)


@pytest.mark.parametrize("difference", [-1, 1])
def test_the_file_is_as_long_as_it_says(difference: int) -> None:
    size = 8 + len(HEADER) + 4
    with pytest.raises(ValueError, match=f"^{size + difference} bytes, wanted {size}$"):
        safetensors.tensors(HEADER, size + difference)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"{",
        b'{"w": 1}',
        b'{"w": {}}',
        b'{"w": {"dtype": "U8", "shape": [1], "data_offsets": []}}',
        b'{"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, "1"]}}',
        b'{"w": {"dtype": 8, "shape": [1], "data_offsets": [0, 1]}}',
        b'{"w": {"dtype": "U8", "shape": "1", "data_offsets": [0, 1]}}',
        b"[" * 100_000,
    ],
)
def test_no_header(header: bytes) -> None:
    with pytest.raises(ValueError, match="^no header of safetensors$"):
        safetensors.tensors(header, 100)
