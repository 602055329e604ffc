# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress lines of the lab: what happens now, and seconds since the program started."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_STARTED = time.monotonic()
_LOCK = threading.Lock()
# Steps that are going on; the one that began last speaks, so that a step around it does not say the same.
_OPEN: list[object] = []


def progress(text: str) -> None:
    """Print one line `lab: [ 12.3 s] text` on stderr (stdout stays free for results); safe from several threads."""
    with _LOCK:
        print(f"lab: [{time.monotonic() - _STARTED:6.1f} s] {text}", file=sys.stderr, flush=True)


@contextmanager
def long_step(text: str, every: float = 10.0) -> Iterator[None]:
    """Say that a step began, every `every` seconds that it is still going, and at its end how long it took."""
    began = time.monotonic()
    over = threading.Event()

    def tell() -> None:
        while not over.wait(every):
            if _OPEN[-1] is over:
                progress(f"{text}: still going after {time.monotonic() - began:.0f} s")

    progress(text)
    _OPEN.append(over)
    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        _OPEN.remove(over)
    progress(f"{text}: done in {time.monotonic() - began:.1f} s")
