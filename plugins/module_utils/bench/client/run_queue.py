# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long this thread was ready to run and had no processor. An edge: it reads the kernel's account of it."""

from __future__ import annotations

import os

# "nanoseconds on a processor, nanoseconds in a run queue, times it was given a processor"
ACCOUNT = "/proc/thread-self/schedstat"
_BYTES = 96


class RunQueue:
    """The account of the thread that makes it; to be closed.

    Reading takes 1.3 microseconds in a row, and some 10 after a sleep. Where the kernel keeps no account all waits
    are 0.
    """

    def __init__(self, path: str = ACCOUNT) -> None:
        self._fd = -1
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            text = os.pread(self._fd, _BYTES, 0)
        except OSError:
            self.close()
            return
        waited = waited_ns(text)
        if waited is None:
            self.close()
        else:
            self._last = waited

    @property
    def known(self) -> bool:
        """The kernel keeps the account."""
        return self._fd >= 0

    def waited(self) -> float:
        """Seconds in a run queue since this was last asked."""
        if self._fd < 0:
            return 0.0
        now = int(os.pread(self._fd, _BYTES, 0).split(None, 2)[1])
        waited, self._last = now - self._last, now
        return waited * 1e-9

    def close(self) -> None:
        """Give the file back; a second time does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def waited_ns(text: bytes) -> int | None:
    """The wait in an account; None when that is not kept, which shows as a thread that never ran."""
    fields = text.split()
    if len(fields) < 3 or not all(field.isdigit() for field in fields[:3]) or int(fields[2]) == 0:
        return None
    return int(fields[1])
