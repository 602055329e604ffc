# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C as something that an action plugin can act on: Ansible's own answer to it ends the plugin at once.

Ansible gives its workers about five seconds to end when it is interrupted, enough for one last call of a module.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """Somebody wants this process to end.

    :ivar number: of the signal
    """

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(signal.Signals(number).name)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise :class:`Interrupted` in the block when a signal comes; further ones are not heard there.

    After the block the signal is given to whom it was meant for.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for name in SIGNALS:
            signal.signal(name, signal.SIG_IGN)
        raise Interrupted(number)

    before = {name: signal.signal(name, interrupt) for name in SIGNALS}
    heard = 0
    try:
        yield
    except Interrupted as interruption:
        heard = interruption.number
        raise
    finally:
        for name, handler in before.items():
            signal.signal(name, handler if handler is not None else signal.SIG_DFL)
        if heard:
            os.kill(os.getpid(), heard)
