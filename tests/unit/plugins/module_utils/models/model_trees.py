# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models in folders of a test, as download tools leave them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONFIG = {"architectures": ["TinyForCausalLM"], "model_type": "tiny"}
ID = "acme/tiny"
REVISION = "aaaa1111"
WEIGHTS = "model.safetensors"


def shard(data: int = 16) -> bytes:
    """A safetensors file with one tensor of so many bytes."""
    header = json.dumps({"w": {"dtype": "U8", "shape": [data], "data_offsets": [0, data]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(data)


def index(*names: str, total: int | None = None) -> bytes:
    """A weights index that asks for these files."""
    metadata = {} if total is None else {"metadata": {"total_size": total}}
    return json.dumps({"weight_map": {f"w{number}": name for number, name in enumerate(names)}, **metadata}).encode()


def files(config: Mapping[str, Any] | None = None, **more: bytes) -> dict[str, bytes]:
    """The files of a small model that is complete."""
    return {"config.json": json.dumps(config or CONFIG).encode(), "tokenizer.json": b"{}", WEIGHTS: shard(), **more}


def folder(path: Path, content: Mapping[str, bytes] | None = None) -> Path:
    """A model of plain files."""
    for name, data in (files() if content is None else content).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def cached(
    hub: Path,
    content: Mapping[str, bytes] | None = None,
    model: str = ID,
    revision: str = REVISION,
    ref: str | None = "main",
) -> Path:
    """A model in a Hugging Face cache: blobs, links to them, and a ref.

    :return: its folder in the cache
    """
    repository = hub / ("models--" + model.replace("/", "--"))
    snapshot = repository / "snapshots" / revision
    (repository / "blobs").mkdir(parents=True, exist_ok=True)
    for name, data in (files() if content is None else content).items():
        (repository / "blobs" / f"{revision}-{name.replace('/', '-')}").write_bytes(data)
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (name.count("/") + 2)
        (snapshot / name).symlink_to(f"{up}blobs/{revision}-{name.replace('/', '-')}")
    if ref is not None:
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / ref).write_text(revision, encoding="utf-8")
    return repository
