# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check of this checkout, two side by side: what `make test` runs.

Checks that need containers get one Docker Engine, made sure of once. At the end, also after a failure or Ctrl-C, the
labs that came up meanwhile go, and so does an engine that was not there before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.idle_time import idle_line, read_cpu_times
from tools.lab_state import LabState, clean_up_commands, lab_state
from tools.lanes import Kind
from tools.runner import Result, Runner, log_name, table
from tools.ssh_masters import own_control_folder
from tools.step_environment import plain_output, step_environment
from tools.steps import all_steps, chosen_steps, static_steps
from tools.stop_signals import Stopped, catch_stop_signals, undisturbed

CHECKOUT = Path(__file__).resolve().parent.parent
LOGS = CHECKOUT / "results" / "test"
CLEAN_UP = "clean up"
CLEAN_UP_LIMIT = 300  # seconds
_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - _BEGAN:6.0f} s] {text}", flush=True)


def clean_up(before: LabState, environment: Mapping[str, str]) -> Result:
    """Take down what the checks left of labs and, if it is theirs, the engine; return how that went."""
    began = time.monotonic()
    log = LOGS / log_name(CLEAN_UP)
    code: int | None = 0
    with log.open("wb") as output:
        for command in clean_up_commands(before, lab_state()):
            say(f"start   {CLEAN_UP}: {' '.join(command[1:])}")
            try:
                done = subprocess.run(
                    command,
                    cwd=CHECKOUT,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    check=False,
                    timeout=CLEAN_UP_LIMIT,
                )
                code = code or done.returncode
            except subprocess.TimeoutExpired:
                code = None
    result = Result(CLEAN_UP, code, time.monotonic() - began, log)
    say(f"end     {CLEAN_UP}: {result.verdict} after {result.seconds:.1f} s")
    if not result.passed:
        say(log.read_text(encoding="utf-8", errors="replace"))
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns 0 when all passed, 1 when something failed, 2 for a wrong word, 130/143 when stopped."""
    parser = argparse.ArgumentParser(prog="python -m tools.check_all", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="checks with this in their name")
    parser.add_argument("--static", action="store_true", help="only checks that need no container")
    parser.add_argument("--list", action="store_true", help="show the checks, and what each takes, and stop")
    options = parser.parse_args(argv)
    try:
        steps = chosen_steps(static_steps() if options.static else all_steps(CHECKOUT), options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        print("\n".join(f"{step.kind.value:<8}{step.name}" for step in steps))
        return 0
    with_labs = any(step.kind is not Kind.STATIC for step in steps)
    before = lab_state() if with_labs else None
    times = read_cpu_times()
    exit_code = 0
    catch_stop_signals()
    with own_control_folder() as sockets:
        environment = {**step_environment(os.environ, CHECKOUT), **plain_output(), **sockets}
        runner = Runner(CHECKOUT, LOGS, environment, say)
        results = runner.results
        try:
            runner.run(steps)
        except Stopped as stopped:
            say(str(stopped))
            exit_code = stopped.exit_code
        finally:
            with undisturbed():
                if before is not None:
                    results.append(clean_up(before, environment))
    say(idle_line(times, read_cpu_times()))
    print(f"\n{table(results)}", flush=True)
    return exit_code or int(not all(result.passed for result in results))


if __name__ == "__main__":
    sys.exit(main())
