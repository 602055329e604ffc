# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGTERM and Ctrl-C as one exception, so that `finally` cleans up in both cases."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """Somebody asked this program to stop; `exit_code` is what a shell expects then."""

    def __init__(self, number: int) -> None:
        """Remember the signal."""
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


def _raise(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)


def catch_stop_signals() -> None:
    """Let each stop signal raise Stopped in the main thread."""
    for number in SIGNALS:
        signal.signal(number, _raise)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore stop signals for the length of a clean-up, so that an impatient second Ctrl-C leaves nothing behind."""
    before = [signal.signal(number, signal.SIG_IGN) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)
