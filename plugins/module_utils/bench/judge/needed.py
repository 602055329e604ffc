# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many rounds a side would settle a comparison that does not tell."""

from __future__ import annotations

import math

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.verdict import ALPHA, Estimate, both_ways
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import student

# A number of rounds is named that would tell in 8 of 10 tries.
POWER = 0.8
# Nobody measures more often; a difference that needs it is as good as the margin itself.
MOST_ROUNDS = 200


def rounds_to_settle(estimate: Estimate, margin: float | tuple[float, float], alpha: float = ALPHA) -> int | None:
    """Rounds a side in all, if ratio and spread stay as they are.

    None when no number can be named: a single round has no spread, and a ratio close to the margin needs too many.

    :param alpha: the level; that of Holm's adjustment where several comparisons are made
    """
    if estimate.error is None:
        return None
    below, above = both_ways(margin)
    distance = abs(estimate.log_ratio)
    beyond = max(estimate.log_ratio - above, -below - estimate.log_ratio)
    for rounds in range(max(2, estimate.rounds + 1), MOST_ROUNDS + 1):
        df = rounds - 1 if estimate.paired else 2 * rounds - 2
        error = math.sqrt(estimate.spread / rounds)
        if beyond > 0:
            wide, power = student.quantile(1 - alpha / 2, df), student.quantile(POWER, df)
            # The ratio must be far enough from 1 and stay beyond the margin, both in most of the tries.
            if distance > (wide + power) * error and beyond > power * error:
                return rounds
        else:
            # It may leave the margin on either side.
            wide, power = student.quantile(1 - ALPHA / 2, df), student.quantile((1 + POWER) / 2, df)
            if -beyond > (wide + power) * error:
                return rounds
    return None
