# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ours beside vLLM's own two clients on one real vLLM: the second source.

`PYTHONPATH=.collections python -m benchmarks.client.against_vllm` starts the vLLM for CPU of tools.py on loopback, with
--url and --model it asks one that runs already; one client after the other in turns that swap (A B C, C B A). It prints
how far the medians of their rounds lie apart. The aim: TPOT within 2 %, TTFT within 5 ms. There is no truth here but
their agreement; a server that itself differs from round to round shows as the range of each.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median

from benchmarks.client import child, tools
from benchmarks.client.contenders import OURS, Contender, Figures, Job, contenders, hub_cache, tokenizer
from benchmarks.client.report import plain
from benchmarks.gateway.report import markdown
from benchmarks.gateway.stage import wait_until_answers
from lab.engines.engine import DENSE
from lab.engines.vllm_cpu_image import ENVIRONMENT

NAMES = (OURS, tools.VLLM, tools.RUST)
# Medians of a round's requests: the server itself stalls now and then on two cores.
TPOT, TTFT = "median_tpot_ms", "median_ttft_ms"
TPOT_LIMIT, TTFT_LIMIT = 2.0, 5.0
PORT = 29860
STARTS_WITHIN = 180.0
# Seeds that vllm-rs tries for its prompts in a round, and its words when it has found none with one.
TRIES, NO_PROMPTS = 20, "failed to converge"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A real vLLM with the tiny dense model, as long as it is needed; its address.

    The clients get the last processor and the server all others: a client of several threads would take from the
    server what it then measures.
    """
    *its, ours = processors = sorted(os.sched_getaffinity(0))
    settings = {name: value for name, value in ENVIRONMENT.items() if name != "PATH"}
    command = [*tools.program(tools.VLLM), "serve", tokenizer(), f"--served-model-name={DENSE}", "--enforce-eager"]
    command += ["--host=127.0.0.1", f"--port={PORT}", "--max-model-len=2048", "--max-num-seqs=16"]
    os.sched_setaffinity(0, its or processors)
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, **settings, **tools.environment_of(tools.VLLM)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    os.sched_setaffinity(0, {ours})
    try:
        wait_until_answers(PORT, within=STARTS_WITHIN)
        yield f"http://127.0.0.1:{PORT}"
    finally:
        # With the process of its engine.
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        os.sched_setaffinity(0, processors)


def _ask(row: Contender, job: Job, number: int) -> Figures:
    """One round of one client; vllm-rs does not find prompts of the wanted length with every seed."""
    log = job.folder / "log"
    for attempt in range(TRIES):
        seed = [f"--seed={number * TRIES + attempt}"] if row.name == tools.RUST else []
        usage = child.run([*row.command(job), *seed], log, row.environment)
        try:
            return row.read(job)
        except (OSError, ValueError, KeyError) as error:
            said = log.read_text(encoding="utf-8", errors="replace")
            why = f"{error}; exit code {usage.code}): {said.splitlines()[-5:]}"
        if NO_PROMPTS not in said:
            break
    raise SystemExit(f"{row.name} gave no result ({why}")


def ask_all(rows: Sequence[Contender], job: Job, rounds: int) -> dict[str, list[Figures]]:
    """All rounds of all clients; every second round goes the other way."""
    found: dict[str, list[Figures]] = {row.name: [] for row in rows}
    for number in range(rounds):
        for row in rows if number % 2 == 0 else reversed(rows):
            folder = job.folder / f"{number}-{row.name}"
            folder.mkdir()
            own = Job(job.url, job.users, job.requests, job.tokens, folder, job.model)
            figures = _ask(row, own, number)
            found[row.name].append(figures)
            tpot, ttft = (plain(figures.more.get(name), ".2f") for name in (TPOT, TTFT))
            print(f"round {number + 1}, {row.name}: TPOT {tpot} ms, TTFT {ttft} ms, {figures.ok} answers", flush=True)
    return found


def _range(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} - {max(values):.2f})" if values else "-"


def _values(rounds: Sequence[Figures], name: str) -> list[float]:
    return [value for figures in rounds if (value := figures.more.get(name)) is not None]


def table(found: Mapping[str, Sequence[Figures]]) -> str:
    """A row for each client, and how far ours is from it."""
    rows = []
    ours = {name: _values(found[OURS], name) for name in (TPOT, TTFT)}
    for client, rounds in found.items():
        values = {name: _values(rounds, name) for name in ours}
        row = [client, *(_range(values[name]) for name in ours), str(sum(figures.ok or 0 for figures in rounds))]
        known = all(ours.values()) and all(values.values())
        if client == OURS or not known:
            rows.append([*row, "-", "-", "-"])
            continue
        apart = 100 * (median(ours[TPOT]) / median(values[TPOT]) - 1)
        late = median(ours[TTFT]) - median(values[TTFT])
        verdict = "holds" if abs(apart) <= TPOT_LIMIT and abs(late) <= TTFT_LIMIT else "**missed**"
        rows.append([*row, plain(apart, "+.2f"), plain(late, "+.2f"), verdict])
    header = ["client", "TPOT ms, median of the rounds (range)", "TTFT ms", "requests"]
    return markdown([*header, "our TPOT to it, %", "our TTFT to it, ms", "within 2 % and 5 ms"], rows)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="of a server that runs, without /v1; one is started without it")
    parser.add_argument("--model", default=DENSE, help="as it is served")
    parser.add_argument("--users", type=int, default=1)
    parser.add_argument("--requests", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        everything = contenders(hub_cache(folder / "hub"))
        missing = {each: tools.state_of(each)[1] for each in NAMES if each != OURS and tools.state_of(each)[1]}
        for tool, why in missing.items():
            print(f"{tool}: {why}", file=sys.stderr)
        rows = [everything[each] for each in NAMES if each not in missing]
        with nullcontext(options.url) if options.url else served(folder) as url:
            job = Job(url, options.users, options.requests, options.tokens, folder, options.model)
            # A server that has just started is slow in its first seconds, which the first client must not pay for.
            warm = Job(url, options.users, options.requests, options.tokens, folder / "warm", options.model)
            warm.folder.mkdir()
            ask_all(rows[:1], warm, 1)
            found = ask_all(rows, job, options.rounds)
    print(
        f"\n{options.users} users, {options.rounds} rounds of {options.requests} requests of {options.tokens} tokens\n"
    )
    print(table(found))


if __name__ == "__main__":
    main()
