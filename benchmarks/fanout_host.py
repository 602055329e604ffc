# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on the hosts of benchmarks/fanout.py: the work of the module `fanout`, without Ansible around it.

`make ROOT NUMBER SIZE` makes a payload and prints its manifest. `run ORDER STATUS` does what the one file says and
writes into the other how far it is, with `begin` and `end` in seconds of the wall clock. `cached FOLDER` prints how
many bytes of a payload are in the page cache.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import mmap
import os
import sys
import time
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import job
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import payload_of
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.place import Place

NAME = "model-"


class Status:
    """The status in its file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._now: dict[str, Any] = {"pid": os.getpid(), "state": "running", "begin": time.time()}
        self.say()

    def say(self, **more: Any) -> None:
        self._now.update(more)
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self._now))
        part.replace(self._path)

    def tell(self, done: int, total: int, text: str = "") -> None:
        self.say(done=done, text=text)

    def finish(self, result: dict[str, Any]) -> None:
        self.say(state="done", end=time.time(), received=result.get("received", 0))


def make(root: Path, number: int, size: int) -> None:
    """Make files with random content, on the disk and not in the cache only."""
    root.mkdir(parents=True)
    entries = []
    for at in range(number):
        data = os.urandom(size)
        path = root / f"{NAME}{at:05}"
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        entries.append({"path": path.name, "size": size, "sha256": hashlib.sha256(data).hexdigest()})
    sys.stdout.write(json.dumps({"format": 1, "model": str(root), "hub": "path", "revision": "", "entries": entries}))


def run(order_file: Path, status_file: Path) -> None:
    """Serve or copy."""
    options = json.loads(order_file.read_text())
    payload = payload_of(options.pop("manifest"))
    place = Place(options.pop("root"), payload)
    order = Order(what="the payload", payload=payload, place=place, **options)
    status = Status(status_file)
    try:
        if order.upstreams:
            status.finish(job.copy(order, status, None))
        else:
            job.serve(order, status)
    except WorkFailed as error:
        status.say(state="failed", error=str(error))


def cached(folder: Path) -> int:
    """Bytes of a payload's files, whole or not, in the page cache."""
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    pages = 0
    for path in folder.rglob(f"{NAME}*"):
        try:
            file = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # it has just got its name
            continue
        size = os.fstat(file).st_size
        if size:
            where = library.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
            there = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
            library.mincore(where, size, there)
            library.munmap(where, size)
            pages += sum(byte & 1 for byte in there.raw)
        os.close(file)
    return pages * mmap.PAGESIZE


def main() -> None:
    what, *words = sys.argv[1:]
    if what == "make":
        make(Path(words[0]), int(words[1]), int(words[2]))
    elif what == "run":
        run(Path(words[0]), Path(words[1]))
    else:
        sys.stdout.write(str(cached(Path(words[0]))))


if __name__ == "__main__":
    main()
