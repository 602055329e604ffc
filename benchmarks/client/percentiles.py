# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Percentiles by nearest rank; a module of its own, for our client's process imports little."""

from __future__ import annotations

from collections.abc import Sequence

TAIL, HALF = 0.99, 0.5


def percentile(values: Sequence[float], share: float) -> float | None:
    """None of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None
