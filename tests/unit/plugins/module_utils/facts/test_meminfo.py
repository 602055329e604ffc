# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory and its pressure."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import meminfo, pressure
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import gib


def test_u10_used_is_all_that_cannot_be_had() -> None:
    found = meminfo.fields("MemTotal: 127600000 kB\nMemAvailable: 78700000 kB\nHugePages_Total:       0\n")
    assert gib(meminfo.used(found)) == "46.6 GiB"


def test_cache_and_unexplained() -> None:
    sizes = {"MemTotal": 1000, "MemFree": 100, "Buffers": 20, "Cached": 300, "Shmem": 40, "AnonPages": 80, "Slab": 50}
    found = meminfo.fields("".join(f"{name}: {size} kB\n" for name, size in sizes.items()))
    assert meminfo.cache(found) == 280 * 1024
    assert meminfo.unexplained(found) == 450 * 1024


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("some avg10=0.00 avg60=9.10 avg300=0.00 total=0\nfull avg10=0.00 avg60=2.50 avg300=0.00 total=0\n", 2.5),
        ("some avg10=0.00 avg60=9.10 avg300=0.00 total=0\n", None),
        ("", None),
        ("full avg10=", None),
    ],
)
def test_pressure(text: str, expected: float | None) -> None:
    assert pressure.full_avg60(text) == expected
