# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as ``docker save`` makes them, for tests."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

CONFIG = {"architecture": "arm64", "rootfs": {"type": "layers", "diff_ids": ["sha256:l1", "sha256:l2"]}}


def entry(*tags: str) -> dict[str, Any]:
    """An entry of its manifest."""
    return {"Config": "c.json", "RepoTags": list(tags) or None, "Layers": ["l1/layer.tar", "l2/layer.tar"]}


def write(path: Path, files: dict[str, Any], mode: str = "w") -> Path:
    """A tar file whose members are JSON, or bytes."""
    with tarfile.open(path, mode) as tar:
        for name, value in files.items():
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def image(path: Path, *tags: str, mode: str = "w") -> Path:
    """The file of one image."""
    return write(path, {"l1/layer.tar": b"1" * 4096, "c.json": CONFIG, "manifest.json": [entry(*tags)]}, mode)
