# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure stall information: for how much of the time tasks waited. Pure."""

from __future__ import annotations

import re

PATH = "/proc/pressure/memory"
_FULL = re.compile(r"^full\s.*?\bavg60=(\d+(?:\.\d+)?)", re.MULTILINE)


def full_avg60(text: str) -> float | None:
    """Percent of the last minute in which all tasks waited; None where the kernel does not say."""
    found = _FULL.search(text)
    return float(found[1]) if found else None
