# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of why a GPU's clock is held down."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import throttle


@pytest.mark.parametrize(
    ("bit", "word"),
    [
        (0x1, "gpu_idle"),
        (0x2, "applications_clocks_setting"),
        (0x4, "sw_power_cap"),
        (0x8, "hw_slowdown"),
        (0x10, "sync_boost"),
        (0x20, "sw_thermal_slowdown"),
        (0x40, "hw_thermal_slowdown"),
        (0x80, "hw_power_brake_slowdown"),
        (0x100, "display_clocks_setting"),
    ],
)
def test_each_bit_has_nvidia_smis_word(bit: int, word: str) -> None:
    assert throttle.reasons(f"0x{bit:016x}") == [word]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("0x0000000000000000", []),
        (" 0x00000000000000C8 ", ["hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"]),
        ("0x0000000000010004", ["sw_power_cap", "0x10000"]),
        ("[N/A]", None),
        ("[Not Supported]", None),
        ("4", None),
        ("", None),
    ],
)
def test_bits_of_a_value(value: str, found: list[str] | None) -> None:
    assert throttle.reasons(value) == found


def seen(*held: Any) -> list[dict[str, Any]]:
    return [{"gpu": {"throttle": one}} for one in held]


def test_shares_are_of_the_samples_whose_host_said_it() -> None:
    samples = [*seen(["sw_power_cap"], ["sw_power_cap", "hw_slowdown"], [], [], None), {"gpu": None}, {}]
    assert throttle.shares(samples) == {"sw_power_cap": 0.5, "hw_slowdown": 0.25}
    assert throttle.share_of_any(samples, throttle.SLOWDOWNS) == 0.25
    assert throttle.share_of_any(seen(["hw_slowdown", "hw_thermal_slowdown"], []), throttle.SLOWDOWNS) == 0.5


def test_a_host_that_does_not_say_it_has_no_share() -> None:
    assert throttle.shares(seen(None, None)) is None
    assert throttle.share_of_any([{"gpu": {}}], throttle.SLOWDOWNS) is None
    assert throttle.shares(seen([])) == {}
