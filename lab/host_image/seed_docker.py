# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy one Docker data folder to others: layers as hard links, all that Docker writes to as real copies.

An image's layer folders (overlay2/*/diff) are never written to, so links to one file serve any number of hosts. Every
path must be below one mount, or links are refused by the kernel. Usage: seed_docker SOURCE TARGET...
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LAYERS = "overlay2"
# Every Docker makes an id of its own when it finds none.
LEFT_OUT = ("engine-id",)


def copy(options: list[str], source: Path, target: Path) -> None:
    """Copy a tree with everything that belongs to it (owners, times, extended attributes, whiteouts)."""
    subprocess.run(["cp", "--archive", *options, str(source), str(target)], check=True)


def unlink_layer_records(layer: Path) -> None:
    """Give a linked layer folder real copies of the small files that stand beside `diff`."""
    for record in list(layer.iterdir()):
        if record.is_file() and not record.is_symlink():
            real = record.with_name(record.name + ".copy")
            shutil.copy2(record, real)
            real.replace(record)


def seed(source: Path, target: Path) -> None:
    """Fill an empty Docker data folder from a stopped Docker's folder."""
    for entry in source.iterdir():
        if entry.name != LAYERS and entry.name not in LEFT_OUT:
            copy([], entry, target)
    copy(["--link"], source / LAYERS, target)
    for layer in (target / LAYERS).iterdir():
        if layer.is_dir() and not layer.is_symlink():
            unlink_layer_records(layer)


if __name__ == "__main__":
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda target: seed(Path(sys.argv[1]), Path(target)), sys.argv[2:]))
