# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of a host."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import (
    GIB,
    Memory,
    needed,
    parse_meminfo,
    under_floor,
)

MEMINFO = """\
MemTotal:       127535292 kB
MemFree:         1863872 kB
MemAvailable:   98210044 kB
Buffers:          312340 kB
SwapTotal:             0 kB
HugePages_Total:       0
"""


def test_meminfo_is_read() -> None:
    assert parse_meminfo(MEMINFO) == Memory(total=127535292 * 1024, available=98210044 * 1024)


def test_meminfo_of_another_kind() -> None:
    with pytest.raises(ValueError, match="no MemTotal or no MemAvailable"):
        parse_meminfo("MemTotal: 1 kB\n")


def test_u02_the_floor_is_reached_at_the_last_sample() -> None:
    said = [under_floor(Memory(120 * GIB, gib * GIB), 6 * GIB) for gib in (88, 61, 33, 14, 7, 5)]
    assert said == [""] * 5 + ["memory available 5.0 GiB is under the floor of 6.0 GiB"]


def test_u05_what_a_start_needs() -> None:
    assert needed(Memory(120 * GIB, 9 * GIB), 0.7, 2 * GIB) == 86 * GIB
