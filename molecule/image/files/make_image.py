# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a small image as ``docker save`` does: FILE NAME ARCHITECTURE TEXT, where the text is all that is in it."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from typing import BinaryIO


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file that is the same each time."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def write(stream: BinaryIO, name: str, architecture: str, text: str) -> None:
    """Write the archive."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        add(tar, "text", text.encode())
    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    config = json.dumps(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {"Entrypoint": ["/text"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{"created_by": "make_image.py"}],
        }
    ).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": [f"{digest}/layer.tar"]}]
    with tarfile.open(fileobj=stream, mode="w") as tar:
        add(tar, config_name, config)
        add(tar, f"{digest}/layer.tar", layer.getvalue())
        add(tar, "manifest.json", json.dumps(manifest).encode())


if __name__ == "__main__":
    path, *words = sys.argv[1:]
    with open(path, "wb") as stream:
        write(stream, *words)
