# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a host is too short of memory for more requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host_memory import HostMemory
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB, Memory
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.pressure import Pressure, full_avg10, look

FLOOR = 4 * GIB
STALLS = """some avg10=12.00 avg60=3.00 avg300=0.50 total=123
full avg10=10.50 avg60=1.00 avg300=0.10 total=45
"""


def follow(looks: list[tuple[float, float, float | None]]) -> list[tuple[bool, bool]]:
    """Looks as seconds, GiB available, and percent of stalls."""
    pressure, found = Pressure(), []
    for now, available, stall in looks:
        pressure = look(pressure, Memory(120 * GIB, int(available * GIB)), FLOOR, stall, now)
        found.append((pressure.short, pressure.stalled))
    return found


@pytest.mark.parametrize(
    ("looks", "short"),
    [
        ([(0, 8, None), (1, 7.9, None)], [False, True]),
        # Between the two bounds it stays as it was.
        ([(0, 9, None), (1, 7, None), (2, 11.9, None), (3, 12, None)], [False, True, True, False]),
        # An engine that has grown never gives back what it took.
        ([(0, 7, None), (1, 9, None), (60, 9, None), (61, 9, None), (62, 9, None)], [True, True, True, False, False]),
        ([(0, 7, None), (1, 9, None), (50, 7, None), (61, 9, None)], [True, True, True, True]),
    ],
)
def test_short_of_memory(looks: list[tuple[float, float, float | None]], short: list[bool]) -> None:
    assert follow(looks) == [(one, False) for one in short]


def test_stalls() -> None:
    looks = [(0.0, 100.0, 10.0), (1.0, 100.0, 10.1), (2.0, 100.0, 5.1), (3.0, 100.0, 5.0), (4.0, 100.0, None)]
    assert follow(looks) == [(False, stalled) for stalled in (False, True, True, False, False)]


def test_both_are_named() -> None:
    pressure = look(Pressure(), Memory(120 * GIB, 7 * GIB), FLOOR, 12.5, 0)
    assert pressure.words == (
        "memory available 7.0 GiB, the floor is 4.0 GiB; all tasks waited for memory 12.5 % of the last 10 s"
    )


def test_a_floor_of_nothing_is_no_pressure() -> None:
    assert look(Pressure(), Memory(120 * GIB, 0), 0, None, 0) == Pressure()


@pytest.mark.parametrize(("text", "percent"), [(STALLS, 10.5), ("some avg10=12.00\n", None), ("", None)])
def test_full_avg10(text: str, percent: float | None) -> None:
    assert full_avg10(text) == percent


def test_a_kernel_that_counts_no_stalls_and_one_that_does(tmp_path: Path) -> None:
    (tmp_path / "proc/pressure").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 125829120 kB\nMemAvailable: 115343360 kB\n")
    host = HostMemory(tmp_path, FLOOR, 0)
    assert (host.pressure.words, host.memory.available) == ("", 110 * GIB)
    (tmp_path / "proc/pressure/memory").write_text(STALLS)
    host.look(1)
    assert host.pressure.stalled
