# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The chance of a false alarm over all comparisons of one report, kept at that of one comparison (Holm)."""

from __future__ import annotations

from collections.abc import Sequence


def adjusted(probabilities: Sequence[float | None]) -> list[float | None]:
    """Each probability times the number of those that are at least as great, none less than one before it.

    >>> adjusted([0.01, 0.04, None])
    [0.02, 0.04, None]

    :param probabilities: None where there is no test; it counts for nothing
    """
    known = sorted((p, place) for place, p in enumerate(probabilities) if p is not None)
    found: list[float | None] = [None] * len(probabilities)
    greatest = 0.0
    for rank, (p, place) in enumerate(known):
        greatest = max(greatest, min(1.0, p * (len(known) - rank)))
        found[place] = greatest
    return found
