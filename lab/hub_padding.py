# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pad a model in a Hugging Face cache to a size in bytes. Sent to a host and run there, so it stands alone.

The padding of a size is the same on every host, and no two of its blocks are.
"""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path

FILES = 4
BLOCK = 1 << 20
SEED = 2026


def write_blob(blobs: Path, number: int, size: int, block: bytes) -> str:
    """Write one blob of a size; return its name."""
    digest = hashlib.sha256()
    unfinished = blobs / f"padding-{number}"
    with unfinished.open("wb") as stream:
        for start in range(0, size, BLOCK):
            data = (b"%08d%024d" % (number, start) + block)[: min(BLOCK, size - start)]
            stream.write(data)
            digest.update(data)
    unfinished.rename(blobs / digest.hexdigest())
    return digest.hexdigest()


def pad(repository: Path, revision: str, padding_bytes: int) -> None:
    """Add FILES files of `padding_bytes` in all, as blobs and as links in the snapshot's folder `padding`."""
    folder = repository / "snapshots" / revision / "padding"
    folder.mkdir(exist_ok=True)
    block = random.Random(SEED).randbytes(BLOCK)
    for number in range(FILES):
        size = padding_bytes // FILES + (padding_bytes % FILES if number == 0 else 0)
        link = folder / f"{number}.dat"
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../../blobs/{write_blob(repository / 'blobs', number, size, block)}")


if __name__ == "__main__":
    pad(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
