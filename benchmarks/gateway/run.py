# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure all gateways beside no gateway, in one run; see README.md here, which gets the results.

First cost (round for round, cell for cell, target after target, so that what else the machine does meets all of them),
then two engines together, then what happens around faults.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS
from benchmarks.gateway import faults, report, verdict
from benchmarks.gateway.behaviour import Behaviour, behaviour
from benchmarks.gateway.cost import CELLS, LAG_LIMIT, Cost, Shared, measure, percentile, two_engines
from benchmarks.gateway.report import TAIL
from benchmarks.gateway.stage import Stage
from benchmarks.gateway.targets import DIRECT, FASTAPI, Target, direct, fastapi, provider

README = Path(__file__).with_name("README.md")
MARK = "<!-- The last results; what follows is written by run.py. -->\n"
# Room for all in the cost cells; as many as the slots for the rest, with a queue that can be filled.
WIDE = (256, 1024)
NARROW = (8, 8)
RACERS = 96
# A target that takes so much longer than direct in a cell is not asked again there.
TOO_SLOW = 1.5


@contextmanager
def started(names: Sequence[str], folder: Path, room: tuple[int, int]) -> Iterator[list[Target]]:
    """All targets at once, direct first; ended afterwards."""
    targets = [direct()]
    folder.mkdir()
    try:
        for name in names:
            targets.append(fastapi(folder) if name == FASTAPI else provider(name, folder, *room))
        yield targets
    finally:
        for target in targets:
            target.stop()


def costs_of(stage: Stage, targets: Sequence[Target], rounds: int) -> dict[str, dict[int, Cost]]:
    """All cells of all targets."""
    costs = {target.name: {cell.users: Cost() for cell in CELLS} for target in targets}
    for number in range(rounds):
        for cell in CELLS:
            for target in targets:
                cost, bare = costs[target.name][cell.users], costs[DIRECT][cell.users]
                if number and cost.wall > TOO_SLOW * bare.wall:
                    continue
                measure(stage, target, cell, cost)
                failed = f", failed so far: {dict(Counter(cost.failures))}" if cost.failures else ""
                say(f"round {number + 1}, N={cell.users}, {target.name}: {cost.wall:.1f} s{failed}")
    return costs


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def lateness(costs: report.Costs) -> float:
    """How late the client was at the p99 of its worst cell, in seconds."""
    return max(percentile(cost.lags, TAIL) for cells in costs.values() for cost in cells.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [*PROVIDERS, FASTAPI]
    parser.add_argument("--only", action="append", choices=everything, help="direct is always measured")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8.0, help="of two engines together, for each target")
    parser.add_argument("--keep", action="store_true", help="leave README.md as it is")
    options = parser.parse_args()
    names = options.only or everything
    busy, begun = os.getloadavg()[0], time.monotonic()
    found: dict[str, Behaviour] = {}
    shared: dict[str, Shared] = {}
    # Under /tmp whatever TMPDIR says: the path of a Unix socket is short.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, Stage(Path(folder)) as stage:
        with started(names, Path(folder) / "wide", WIDE) as targets:
            costs = costs_of(stage, targets, options.rounds)
            races = faults.keep_alive_race(stage, targets[1:], RACERS)
        with started(names, Path(folder) / "narrow", NARROW) as targets:
            for target in targets:
                if target.name != DIRECT:
                    faults.settle(stage, target)
                shared[target.name] = two_engines(stage, target, options.seconds)
                say(f"two engines, {target.name}")
            for target in targets[1:]:
                found[target.name] = behaviour(stage, target, 2 * NARROW[0] + 2 * NARROW[1])
                found[target.name].race = races[target.name]
                say(f"faults, {target.name}")
    figures = (
        [
            *verdict.of_cost(costs, "haproxy"),
            *verdict.of_shared(shared["haproxy"], shared[DIRECT]),
            *verdict.of_behaviour(found["haproxy"]),
        ]
        if "haproxy" in names
        else []
    )
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    late = lateness(costs)
    parts = [
        f"## Results of {today}, {os.cpu_count()} cores, {platform.machine()}, {time.monotonic() - begun:.0f} s",
        f"The client was at most {1000 * late:.1f} ms late at its p99. Load average before the start: {busy:.1f}.",
        "### HAProxy against the figures it is held to",
        verdict.verdict_table(figures),
        "### Cost, one user to 128: direct, and what the others add to it",
        report.cost_table(costs),
        "### Two engines of 8 slots, 16 users, 32 to 224 tokens",
        report.shared_table(shared),
        "### Behaviour, 8 users on two engines",
        report.behaviour_table(found),
    ]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if late > LAG_LIMIT:
        sys.exit("The machine was too busy: the run is not valid, and README.md stays as it is.")
    if not options.keep:
        before = README.read_text(encoding="utf-8").partition(MARK)[0]
        README.write_text(f"{before}{MARK}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
