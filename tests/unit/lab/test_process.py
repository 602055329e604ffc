# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process is known by pid and start time."""

from __future__ import annotations

import subprocess
import sys

from lab.process import Process, start_time_of


def test_start_time_of_a_program_with_blanks_and_brackets_in_its_name() -> None:
    numbers = " ".join(str(number) for number in range(4, 30))
    assert start_time_of(f"4711 (a) b) S {numbers}") == 22


def test_stop_ends_the_process() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    process = Process.now(child.pid)
    assert process.alive()
    assert process.stop(30)
    child.wait(30)
    assert not process.alive()


def test_stranger_with_the_same_pid_is_left_alone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        real = Process.now(child.pid)
        stranger = Process(real.pid, real.started + 1)
        assert not stranger.alive()
        assert stranger.stop(0.1)
        assert real.alive()
    finally:
        child.kill()
        child.wait(30)
