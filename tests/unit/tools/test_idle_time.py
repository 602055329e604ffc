# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run left of the processors."""

from __future__ import annotations

from tools.idle_time import TICK, CpuTimes, idle_line, parse_cpu_times, read_cpu_times

# Guests are in the time of users: counting them again would make the machine look busier.
STAT = "cpu  400 0 100 300 100 0 50 50 200 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"


def test_the_line_of_all_processors_is_read_without_guests() -> None:
    assert parse_cpu_times(STAT) == CpuTimes(idle=300 / TICK, waiting=100 / TICK, total=1000 / TICK)


def test_shares_are_those_of_the_run_alone() -> None:
    began, ended = CpuTimes(1000.0, 100.0, 2000.0), CpuTimes(1030.0, 105.0, 2100.0)
    assert idle_line(began, ended) == "processors: 30 % idle, 5 % idle and waiting for the disk"


def test_a_run_without_time_has_no_shares() -> None:
    now = read_cpu_times()
    assert now.total > now.idle >= 0
    assert idle_line(now, now) == "processors: no time passed"
