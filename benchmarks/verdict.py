# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the verdict of `benchmark_compare` is right, by simulated runs with a known truth.

Two equal builds, and one that takes 10 % longer, are measured thousands of times with a given run-to-run spread; the
margin is 5 %. Beside each figure stands the one that `benchmark.md` 5.4 states. The result is printed and appended to
benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"
HEADER = (
    "spread",
    "rounds",
    "equal: regression",
    "stated",
    "equal: no change",
    "stated",
    "10 % loss found",
    "stated",
)
MARGIN = math.log(1.05)
LOSS = math.log(1.10)
SEED = 1
# Spread, rounds a side, and in percent: equal builds called a regression, settled as no change, and a loss found.
STATED = (
    (0.02, 1, 4.8, None, 94.9),
    (0.02, 3, 0.1, 37, 98.5),
    (0.02, 5, 0.0, 84, 100),
    (0.02, 8, 0.0, 99, 100),
    (0.04, 1, 20.1, None, 79.7),
    (0.04, 3, 1.6, 4, 59),
    (0.04, 5, 1.6, 8, 90),
    (0.04, 8, 0.7, 29, 99),
)


def simulate(spread: float, rounds: int, trials: int) -> tuple[float, float, float]:
    """Percent of equal builds called a regression, of equal builds settled, and of losses found."""
    draw = random.Random(SEED)
    equal: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for _trial in range(trials):
        baseline, candidate = ([math.exp(draw.gauss(0, spread)) for _round in range(rounds)] for _side in "ab")
        equal[judge(candidate, baseline)] += 1
        lost[judge([value * math.exp(LOSS) for value in candidate], baseline)] += 1
    counts = (equal[verdict.REGRESSION], equal[verdict.NO_CHANGE], lost[verdict.REGRESSION])
    regressions, settled, found = (100 * count / trials for count in counts)
    return regressions, settled, found


def judge(candidate: Sequence[float], baseline: Sequence[float]) -> str:
    """By our rule; with one round each by the habit that more than the margin is bad."""
    estimate = verdict.unpaired(candidate, baseline)
    if len(candidate) == 1:
        return verdict.REGRESSION if estimate.log_ratio > MARGIN else verdict.INCONCLUSIVE
    return verdict.verdict(estimate, MARGIN, lower_is_better=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--no-file", action="store_true", help="do not append to benchmarks/RESULTS.md")
    options = parser.parse_args()
    start = time.perf_counter()
    rows, worst = [], 0.0
    for spread, rounds, *stated in STATED:
        found = simulate(spread, rounds, options.trials)
        known = [(ours, theirs) for ours, theirs in zip(found, stated, strict=True) if theirs is not None]
        worst = max(worst, *(abs(ours - theirs) for ours, theirs in known))
        cells = [
            cell
            for ours, theirs in zip(found, stated, strict=True)
            for cell in (("-", "-") if theirs is None else (f"{ours:.1f} %", f"{theirs:g} %"))
        ]
        rows.append([f"{spread:.0%}", "1, habit" if rounds == 1 else str(rounds), *cells])
    lines = "\n".join(table(HEADER, rows))
    took = time.perf_counter() - start
    trials = f"{options.trials} trials each, seed {SEED}"
    said = f"{trials}; the greatest difference is {worst:.1f} points. It took {took:.0f} s."
    print(f"{lines}\n\n{said}")
    if options.no_file:
        return
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write("\n## How often the benchmark's verdict is right\n\nThe aim is 2 points from what is stated.\n")
        file.write(f"\n### {today}, {os.cpu_count()} cores\n\n```text\n{lines}\n```\n\n{said}\n")


if __name__ == "__main__":
    main()
