# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SHA-256 of many large files at once: an edge, it reads contents.

Threads, not processes: hashing and reading let go of Python's lock, all see how far each is, and none is left when the
work is killed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait

from ansible_collections.dgxspark.serving.plugins.module_utils import page_cache

CHUNK = 4 << 20
# Bytes of a file that may lie in the page cache at a time: engines count cached pages as used memory.
WINDOW = 32 << 20
MOST_WORKERS = 8
# Seconds between two words about how far it is.
STEP = 0.5


def sha256_of(
    root: str, paths: Iterable[str], tell: Callable[[int, int], None]
) -> tuple[dict[str, str], dict[str, str]]:
    """Hash files.

    :param paths: relative to root
    :param tell: is given the bytes done and the bytes in all, now and then
    :return: SHA-256 in hex by path, and for each path that cannot be read, why
    """
    sizes, hashes, broken = {}, {}, {}
    for path in paths:
        try:
            sizes[path] = os.stat(os.path.join(root, path)).st_size
        except OSError as error:
            broken[path] = error.strerror or str(error)
    total, done = sum(sizes.values()), dict.fromkeys(sizes, 0)
    # The largest first, so that none of them is left alone at the end.
    order = sorted(sizes, key=lambda path: -sizes[path])
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_WORKERS)) as pool:
        running = {path: pool.submit(_sha256, root, path, done) for path in order}
        pending = set(running.values())
        while pending:
            pending = wait(pending, STEP).not_done
            tell(sum(done.values()), total)
    for path, future in running.items():
        try:
            hashes[path] = future.result()
        except OSError as error:
            broken[path] = error.strerror or str(error)
    return hashes, broken


def _sha256(root: str, path: str, done: dict[str, int]) -> str:
    """Hash one file, and count its bytes on the way."""
    hashed, at, dropped = hashlib.sha256(), 0, 0
    with open(os.path.join(root, path), "rb", buffering=0) as stream:
        buffer = memoryview(bytearray(min(CHUNK, os.fstat(stream.fileno()).st_size + 1)))
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        while count := stream.readinto(buffer):
            hashed.update(buffer[:count])
            at += count
            done[path] = at
            if at - dropped >= WINDOW:
                page_cache.drop(stream.fileno(), dropped, at - dropped)
                dropped = at
        page_cache.drop(stream.fileno(), 0, 0)
    return hashed.hexdigest()
