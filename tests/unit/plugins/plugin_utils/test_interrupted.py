# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A signal that an action plugin can act on before it takes its way."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

import pytest

from ansible_collections.dgxspark.serving.plugins.plugin_utils.interrupted import SIGNALS, Interrupted, interruptible


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_acted_on_and_then_given_on(number: signal.Signals) -> None:
    given: list[int] = []
    acted: list[str] = []

    def before(received: int, _frame: FrameType | None) -> None:
        given.append(received)

    kept = signal.signal(number, before)
    try:
        with pytest.raises(Interrupted) as error, interruptible():
            try:
                os.kill(os.getpid(), number)
                signal.pause()
            except Interrupted:
                # A second one does not disturb what is done about the first.
                os.kill(os.getpid(), number)
                assert given == []
                acted.append("stopped")
                raise
        assert signal.getsignal(number) is before
    finally:
        signal.signal(number, kept)
    assert (acted, given, error.value.number) == (["stopped"], [number], number)


def test_without_a_signal_nothing_happens() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with interruptible():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_another_error_stays_what_it_is() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError), interruptible():
        raise ValueError
    assert signal.getsignal(signal.SIGINT) is before


def test_a_thread_cannot_have_handlers_and_needs_none() -> None:
    ran: list[bool] = []

    def work() -> None:
        with interruptible():
            ran.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [True]
