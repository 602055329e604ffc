# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a GPU holds its clock down, as the bits of ``clocks_event_reasons.active`` say it. Pure.

The bits are NVML's ``nvmlClocksEventReason*`` (nvml.h), the words nvidia-smi's names of its single fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

# As drivers name the field, the newest name first: nvidia-smi refuses all fields when it does not know one.
FIELDS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
KEY = "throttle"
POWER_CAP = "sw_power_cap"
# What lowers a clock against the user's will. A power cap is not among it: a Spark in its power mode may stay at it.
SLOWDOWNS = ("hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown")
THERMAL = ("sw_thermal_slowdown", "hw_thermal_slowdown")
_BITS = {
    0x1: "gpu_idle",
    0x2: "applications_clocks_setting",
    0x4: POWER_CAP,
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clocks_setting",
}
_NUMBER = re.compile(r"0x[0-9a-fA-F]{1,16}")


def reasons(value: str) -> list[str] | None:
    """Words for the bits that are set; None for what is no number, such as ``[N/A]``.

    >>> reasons("0x0000000000000024"), reasons("0x0"), reasons("0x400"), reasons("[N/A]")
    (['sw_power_cap', 'sw_thermal_slowdown'], [], ['0x400'], None)
    """
    if not _NUMBER.fullmatch(value.strip()):
        return None
    bits = int(value, 16)
    known = [word for bit, word in _BITS.items() if bits & bit]
    others = bits & ~sum(_BITS)
    return [*known, *([f"0x{others:x}"] if others else [])]


def shares(samples: Iterable[Mapping[str, Any]]) -> dict[str, float] | None:
    """Share of the samples in which each reason was active, of those whose host said it; None when none did."""
    said = [found for found in (_of(sample) for sample in samples) if found is not None]
    if not said:
        return None
    words = dict.fromkeys(word for found in said for word in found)
    return {word: sum(word in found for found in said) / len(said) for word in words}


def share_of_any(samples: Iterable[Mapping[str, Any]], wanted: Iterable[str]) -> float | None:
    """Share of the samples in which at least one of these reasons was active; None when the host did not say."""
    names = set(wanted)
    said = [found for found in (_of(sample) for sample in samples) if found is not None]
    return sum(not names.isdisjoint(found) for found in said) / len(said) if said else None


def _of(sample: Mapping[str, Any]) -> list[str] | None:
    gpu = sample.get("gpu")
    found = gpu.get(KEY) if isinstance(gpu, Mapping) else None
    return [word for word in found if isinstance(word, str)] if isinstance(found, list) else None
