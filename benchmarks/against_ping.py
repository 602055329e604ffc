# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A playbook's wall clock and CPU as a multiple of one `ansible -m ping` over the same hosts of a lab.

Ping and playbook take turns, several rounds. Warm rounds find Ansible's ssh connections open, cold ones find none. Wall
clock and the controller's CPU (Ansible and its ssh clients) are medians.
The result is printed and appended to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table
from lab.docker_engine import connect, ensure_engine, stop_engine
from lab.engines import ENGINES
from lab.lab import Lab
from tools.ssh_masters import own_control_folder

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "benchmarks" / "RESULTS.md"
HEADER = ("hosts", "connections", "ping s", "play s", "wall ratio", "ping CPU s", "play CPU s", "CPU ratio")


@dataclass(frozen=True)
class Cost:
    """:ivar wall: seconds; :ivar cpu: seconds of user and system time of the command and all that it started"""

    wall: float
    cpu: float


def run(argv: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """Run a command to its end; a command that fails ends the benchmark with its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(
        argv, cwd=CHECKOUT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


def row(hosts: int, connections: str, pings: Sequence[Cost], plays: Sequence[Cost]) -> tuple[str, ...]:
    """One line of the result; the ratios are medians of the rounds' own ratios, for a machine's speed drifts."""
    ping, play = median(pings), median(plays)
    pairs = list(zip(plays, pings, strict=True))
    wall = statistics.median(one.wall / other.wall for one, other in pairs)
    cpu = statistics.median(one.cpu / other.cpu for one, other in pairs)
    return (
        str(hosts),
        connections,
        f"{ping.wall:.2f}",
        f"{play.wall:.2f}",
        f"{wall:.1f}",
        f"{ping.cpu:.2f}",
        f"{play.cpu:.2f}",
        f"{cpu:.1f}",
    )


@dataclass(frozen=True)
class Subject:
    """What is measured.

    :ivar lab: name of the lab
    :ivar arguments: more arguments of ansible-playbook
    :ivar light: whether hosts without systemd do
    """

    lab: str
    playbook: str
    arguments: tuple[str, ...] = ()
    light: bool = False


def measure(subject: Subject, hosts: int, rounds: int, inventory: Path) -> list[tuple[str, ...]]:
    """Measure one number of hosts, in a lab of its own that is taken down afterwards; the first run counts for none."""
    lab = Lab(ensure_engine(), subject.lab)
    ping = ("ansible", "-i", str(inventory), "sparks", "-m", "ansible.builtin.ping")
    play = ("ansible-playbook", "-i", str(inventory), subject.playbook, *subject.arguments)
    try:
        lab.up(hosts, [ENGINES["double"]], inventory, light=subject.light)
        rows = []
        with own_control_folder() as warm:
            run(play, warm)
            costs = [(run(ping, warm), run(play, warm)) for _round in range(rounds)]
            rows.append(row(hosts, "warm", *zip(*costs, strict=True)))
        costs = []
        for _round in range(rounds):
            with own_control_folder() as cold:
                pinged = run(ping, cold)
            with own_control_folder() as cold:
                costs.append((pinged, run(play, cold)))
        rows.append(row(hosts, "cold", *zip(*costs, strict=True)))
        return rows
    finally:
        lab.down()


def main(subject: Subject, description: str, hosts: Sequence[int]) -> None:
    """Measure a playbook on several numbers of hosts, as the command line says."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--hosts", type=int, nargs="+", default=list(hosts))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = []
    was_there = connect() is not None
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number in options.hosts:
                rows += measure(subject, number, options.rounds, Path(folder, "inventory"))
                print("\n".join(table(HEADER, rows)), flush=True)
    finally:
        if not was_there:
            stop_engine()
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    made = f"{today}, {os.cpu_count()} cores, hosts on the same machine, median of {options.rounds} rounds"
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(f"\n### {subject.playbook} against one ping: {made}\n\n```text\n")
        file.write("\n".join(table(HEADER, rows)) + "\n```\n")
