# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fan-out against iperf3, rsync and itself, on a lab of its own with four hosts on one switch.

Links are shaped so that the link is the limit; unshaped, with the payload in memory, the CPU is. Everything is measured
in one run on one machine, so the ratios are what counts. The result is printed and appended to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import statistics
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table
from benchmarks.fanout_lab import Copied, Hosts
from lab.docker_engine import connect, ensure_engine, stop_engine
from lab.lab import Lab

RESULTS = Path(__file__).parent / "RESULTS.md"
HEADER = ("what", "seconds", "MB/s", "figure", "wanted")
FIRST, MIDDLE, LAST = "spark2", "spark3", "spark4"
STREAMS = 8
MIB = 1 << 20
Row = tuple[str, str, str, str, str]


class Bench:
    """The measurements.

    :param rounds: how often each is taken; the median counts
    """

    def __init__(self, hosts: Hosts, rounds: int) -> None:
        self.hosts = hosts
        self._rounds = rounds
        self.rows: list[Row] = []

    def shaped(self, rate: str) -> None:
        """What the link limits."""
        for host in self.hosts.names():
            self.hosts.lab.slow(host, None, rate)
        payload = self.hosts.size
        iperf = statistics.median(self.hosts.iperf3(FIRST, 6) for _round in range(self._rounds))
        self._row(f"iperf3 -P 4, links of {rate}", payload / iperf, "", "")
        ssh = statistics.median(self.hosts.rsync_ssh(FIRST) for _round in range(self._rounds))
        self._row("rsync over ssh, 1 to 1", ssh, f"{payload / ssh / iperf:.2f} of iperf3", "")
        daemon = statistics.median(self.hosts.rsync_daemon(FIRST) for _round in range(self._rounds))
        self._row("rsync daemon, 1 to 1", daemon, f"{payload / daemon / iperf:.2f} of iperf3", "")
        ones = [self.hosts.fanout(FIRST) for _round in range(self._rounds)]
        one = statistics.median(max(copied.seconds.values()) for copied in ones)
        self._row("fan-out, 1 to 1", one, f"{payload / one / iperf:.2f} of iperf3", "0.93 or more")
        threes = [self.hosts.fanout(FIRST, MIDDLE, LAST) for _round in range(self._rounds)]
        three = statistics.median(max(copied.seconds.values()) for copied in threes)
        self._row("fan-out, 1 to 3", three, f"{three / one:.2f} of 1 to 1", "1.15 or less")
        sent = max(copied.sent for copied in threes) / payload
        self._row("  sent by the source", None, f"{sent:.3f} of the payload", "1.05 or less")
        self._row("  page cache of a target", None, f"{_most_cached([*ones, *threes]) / 1e6:.0f} MB", "1000 MB or less")
        undisturbed = statistics.median(copied.seconds[LAST] for copied in threes)
        died = self.hosts.fanout(FIRST, MIDDLE, LAST, at_half=lambda: self.hosts.kill(MIDDLE), dead=MIDDLE)
        late = max(died.seconds.values())
        self._row("  the middle host killed", late, f"{late / undisturbed:.2f} of undisturbed", "1.20 or less")
        again = self.hosts.interrupted(FIRST) / MIB / STREAMS
        self._row("  kill -9, sent again per stream", None, f"{again:.2f} MiB", "16 MiB or less")
        for host in self.hosts.names():
            self.hosts.lab.restore(host)

    def unshaped(self) -> None:
        """What the CPU limits: the payload lies in memory."""
        self.hosts.use_memory()
        ssh = statistics.median(self.hosts.rsync_ssh(FIRST) for _round in range(self._rounds))
        self._row("rsync over ssh, unshaped", ssh, "", "")
        daemon = statistics.median(self.hosts.rsync_daemon(FIRST) for _round in range(self._rounds))
        self._row("rsync daemon, unshaped", daemon, f"{ssh / daemon:.2f} times rsync over ssh", "")
        # Nobody looks at the page cache meanwhile, for that takes the CPU.
        ones = [self.hosts.fanout(FIRST, at_half=lambda: None) for _round in range(self._rounds)]
        one = statistics.median(max(copied.seconds.values()) for copied in ones)
        self._row("fan-out, unshaped", one, f"{ssh / one:.2f} times rsync over ssh", "2.5 or more")

    def _row(self, what: str, seconds: float | None, figure: str, wanted: str) -> None:
        rate = f"{self.hosts.size / seconds / 1e6:.0f}" if seconds else ""
        self.rows.append((what, f"{seconds:.1f}" if seconds else "", rate, figure, wanted))
        print("; ".join(cell for cell in self.rows[-1] if cell), flush=True)


def _most_cached(copies: list[Copied]) -> int:
    return max(copied.cached for copied in copies)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1024, help="of the payload, in MiB")
    parser.add_argument("--rate", default="500mbit", help="of the shaped links")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="leave the lab up")
    options = parser.parse_args()
    was_there = connect() is not None
    lab = Lab(ensure_engine(), "fanout")
    try:
        lab.up(4, light=True)
        hosts = Hosts(lab, options.size * MIB)
        hosts.prepare()
        bench = Bench(hosts, options.rounds)
        bench.shaped(options.rate)
        bench.unshaped()
    finally:
        if not options.keep:
            lab.down()
            if not was_there:
                stop_engine()
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    made = f"{today}, {os.cpu_count()} cores, {options.size} MiB in 16 files, median of {options.rounds} rounds"
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(f"\n### Fan-out: {made}\n\n```text\n" + "\n".join(table(HEADER, bench.rows)) + "\n```\n")


if __name__ == "__main__":
    main()
