# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the requests of an open load are due: as users come who know nothing of each other. Pure."""

from __future__ import annotations

import random


def due_times(rate: float, requests: int, seed: str) -> list[float]:
    """Seconds after the start at which the requests are due, a Poisson process that is the same for the same seed.

    :param rate: requests per second
    :param seed: another for each round, else all rounds would have the same bursts
    """
    source = random.Random(seed)
    times = []
    now = 0.0
    for _request in range(requests):
        now += source.expovariate(rate)
        times.append(round(now, 6))
    return times
