# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure our client beside the tools that people use, against an engine that knows the truth; see README.md here.

For each round and number of users one tool after the other, so that what else the machine does meets all of them. Then
the matrix of faults.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.client import report, tools
from benchmarks.client.cells import PORT, Cell, measure
from benchmarks.client.contenders import OURS, Contender, contenders, hub_cache
from benchmarks.client.dialect import FAULTS
from benchmarks.gateway.stage import wait_until_answers

README = Path(__file__).with_name("README.md")
MARK = "<!-- The last results; what follows is written by run.py. -->\n"
USERS = (1, 8, 32, 128)
# What no other tool is asked for.
OURS_ALONE = (256, 512)
# A run of these takes seconds, of the others up to a minute.
QUICK = (OURS, tools.RUST, "llama-benchy")
MATRIX_USERS = 4


@contextmanager
def mock(folder: Path) -> Iterator[None]:
    """The engine, as long as it is needed."""
    with (folder / "mock.log").open("wb") as log:
        command = [sys.executable, "-m", "benchmarks.client.mock", str(PORT)]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=Path(__file__).parents[2])
    try:
        wait_until_answers(PORT)
        yield
    finally:
        process.kill()
        process.wait()


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def table_of(
    rows: Mapping[str, Contender], users: Sequence[int], rounds: int, folder: Path
) -> dict[tuple[str, int], list[Cell]]:
    """All cells of all tools."""
    found: dict[tuple[str, int], list[Cell]] = {
        (name, count): [] for name in rows for count in users if name == OURS or count not in OURS_ALONE
    }
    for number in range(rounds):
        for count in users:
            for name, contender in rows.items():
                if (name, count) not in found:
                    continue
                cell = measure(contender, count, folder / f"{number}-{count}-{name}")
                found[name, count].append(cell)
                errors = ", ".join(f"{key} {report.signed(value)} %" for key, value in cell.wrong.items())
                doubts = "".join(f"; invalid: {reason}" for reason in cell.figures.more.get("reasons", ()))
                say(f"round {number + 1}, N={count}, {name}: {cell.why or errors}{doubts}")
    return found


def matrix_of(rows: Mapping[str, Contender], faults: Sequence[str], folder: Path) -> dict[str, dict[str, Cell]]:
    """Every fault with every tool."""
    found: dict[str, dict[str, Cell]] = {}
    for fault in faults:
        found[fault] = {}
        for name, contender in rows.items():
            cell = measure(contender, MATRIX_USERS, folder / f"{fault}-{name}", fault)
            found[fault][name] = cell
            say(f"{fault}, {name}: {report.fault_cell(cell)}")
    return found


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [OURS, *tools.NAMES]
    parser.add_argument("--tools", action="append", choices=every, help="ours is always measured; all without this")
    parser.add_argument("--only", action="append", type=int, choices=[*USERS, *OURS_ALONE], help="numbers of users")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--fault", action="append", choices=list(FAULTS), help="all without this")
    parser.add_argument("--faults-of", choices=["none", "ours", "quick", "all"], default="quick", help="tools there")
    parser.add_argument("--keep", action="store_true", help="leave README.md as it is")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    options = options_of(argv)
    busy, began = os.getloadavg()[0], time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        everything = contenders(hub_cache(folder / "hub"))
        rows = {each: everything[each] for each in everything if each == OURS or each in (options.tools or everything)}
        chosen = {"none": (), "ours": (OURS,), "quick": QUICK, "all": tuple(rows)}[options.faults_of]
        with mock(folder):
            cells = table_of(rows, options.only or [*USERS, *OURS_ALONE], options.rounds, folder)
            broken = {each: rows[each] for each in rows if each in chosen}
            matrix = matrix_of(broken, options.fault or list(FAULTS), folder) if broken else {}
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    took = time.monotonic() - began
    versions = (
        ", ".join(f"{each} {tools.state_of(each)[0] or 'not installed'}" for each in rows if each != OURS) or "none"
    )
    parts = [
        f"## Results of {today}, {os.cpu_count()} cores, {platform.machine()}, {took:.0f} s",
        f"Median of {options.rounds} rounds. Load average before the start: {busy:.1f}. Versions: {versions or '-'}.",
        "### Ours against the figures it is held to",
        report.verdict_table(cells, matrix),
        "### The tools (errors in % of the truth; 128 tokens, 100 ms to the first, 20 ms between)",
        report.tools_table(cells),
    ]
    if matrix:
        heading = "### Faults (4 users, 8 requests, 64 tokens, 200 ms to the first, 10 ms between)"
        parts += [heading, report.matrix_table(matrix)]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if not options.keep:
        before = README.read_text(encoding="utf-8").partition(MARK)[0]
        README.write_text(f"{before}{MARK}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
