# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole way on this machine: a lab of two hosts, a deployment on it, a streamed answer, and the benchmark's report.

Without --backend each host serves by itself, behind a gateway (`deploy-tp1.yml`); with one both serve together.

The lab goes at the end, also after a failure or Ctrl-C, and so does a Docker Engine that was not there before;
`--keep` (`make demo KEEP=1`) leaves both.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.chat_stream import Answer, ChatError, ask, served_model
from tools.child import Child
from tools.inventory_hosts import read_hosts
from tools.lab_state import LAB, lab_state
from tools.ssh_masters import own_control_folder
from tools.step_environment import step_environment
from tools.stop_signals import Stopped, catch_stop_signals, undisturbed

CHECKOUT = Path(__file__).resolve().parent.parent
# The gateway's port and an engine's own, as the collection chooses them.
GATEWAY_PORT, API_PORT = 8080, 8000
QUESTION = "Tell me about two small computers that share one cable."
ANSWER_TOKENS = 64
SPEED = "{host}: {tokens} tokens, first after {first:.2f} s, then {speed:.1f} tok/s"


class DemoError(Exception):
    """A part of the demonstration failed; the text says which."""


def headline(text: str) -> None:
    """Print a line that stands out."""
    print(f"\n=== {text}", flush=True)


def run(argv: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a program with its output shown; raises DemoError when it fails."""
    child = Child(argv, CHECKOUT, environment)
    try:
        code = child.wait()
    finally:
        child.stop()
    if code != 0:
        raise DemoError(f"`{' '.join(argv)}` ended with {code}.")


def shown_command(argv: Sequence[str]) -> str:
    """Return a command as a person types it: `python` instead of the path of this one."""
    return " ".join(["python" if part == sys.executable else part for part in argv])


def speed_line(host: str, answer: Answer) -> str:
    """Return what is printed after an answer."""
    return SPEED.format(host=host, tokens=answer.tokens, first=answer.first_token, speed=answer.tokens_per_second)


def playbook_of(backend: str) -> list[str]:
    """Return what deploys: a playbook and its variables."""
    return ["deploy-tp2.yml", "-e", f"backend={backend}"] if backend else ["deploy-tp1.yml"]


def show_answer(host: str, address: str, port: int) -> None:
    """Ask at the management address of a host and print the tokens as they come; raises DemoError."""
    try:
        model = served_model(address, port)
        headline(f"{host} (http://{address}:{port}, model {model}): {QUESTION}")
        answer = ask(address, port, model, QUESTION, ANSWER_TOKENS, lambda text: print(text, end="", flush=True))
    except ChatError as error:
        raise DemoError(f"{host} at {address}:{port} gave no answer: {error}.") from error
    print(f"\n--- {speed_line(host, answer)}", flush=True)


def reminder(inventory: str, name: str, engine: str, kept: bool, backend: str = "") -> str:
    """Return the commands that do the same by hand, with those for a lab that is still up where it is."""
    by_hand = [
        "source .venv/bin/activate",
        f"python -m lab up --name {name} --engine {engine} --gateway --inventory {inventory}",
        f"ansible-playbook -i {inventory} {' '.join(playbook_of(backend))}",
        f"ansible-playbook -i {inventory} benchmark.yml -e suite=quick",
        f"ansible-playbook -i {inventory} dgxspark.serving.status",
        f"ansible-playbook -i {inventory} dgxspark.serving.stop",
        f"python -m lab down --name {name}",
    ]
    if kept:
        return "The lab is still up:\n  " + "\n  ".join([by_hand[0], *by_hand[3:]])
    return "By hand:\n  " + "\n  ".join(by_hand)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns 0, 1 after a failure, 130 or 143 when stopped."""
    parser = argparse.ArgumentParser(prog="python -m tools.demo", description=__doc__)
    parser.add_argument("--name", default="demo", help="the lab's name")
    parser.add_argument("--hosts", type=int, default=2, help="how many hosts")
    parser.add_argument("--engine", default="vllm-cpu", help="the engine that is loaded into the hosts")
    parser.add_argument("--inventory", default="inventories/lab", help="where the lab's inventory goes")
    parser.add_argument("--backend", default="", choices=["", "mp", "ray"], help="serve on all hosts together (TP=2)")
    parser.add_argument("--keep", action="store_true", help="leave the lab up")
    options = parser.parse_args(argv)
    began = time.monotonic()
    had_engine = lab_state().engine
    catch_stop_signals()
    with own_control_folder() as sockets:
        environment = {**step_environment(os.environ, CHECKOUT), **sockets}
        exit_code = 1
        try:
            exit_code = _demonstrate(options, environment)
        except DemoError as error:
            print(f"\nerror: {error}", file=sys.stderr)
        except Stopped as stopped:
            print(f"\n{stopped}", file=sys.stderr)
            exit_code = stopped.exit_code
        finally:
            with undisturbed():
                if not options.keep:
                    exit_code = _take_down(options.name, not had_engine, environment) or exit_code
    print(f"\ndemo: {time.monotonic() - began:.0f} s in total", flush=True)
    return exit_code


def _demonstrate(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Do the demonstration; raises DemoError. Returns the exit code of a good end."""
    size = ["--name", options.name, "--hosts", str(options.hosts)]
    up = [*LAB, "up", *size, "--engine", options.engine, "--gateway", "--inventory", options.inventory]
    play = ["ansible-playbook", "-i", options.inventory]
    for command in (up, [*play, *playbook_of(options.backend)]):
        headline(shown_command(command))
        run(command, environment)
    host, address = next(iter(read_hosts(CHECKOUT / options.inventory).items()))
    show_answer(host, address, API_PORT if options.backend else GATEWAY_PORT)
    measure = [*play, "benchmark.yml", "-e", "suite=quick"]
    headline(shown_command(measure))
    run(measure, environment)
    print(f"\n{reminder(options.inventory, options.name, options.engine, options.keep, options.backend)}", flush=True)
    return 0


def _take_down(name: str, engine_too: bool, environment: Mapping[str, str]) -> int:
    """Take the lab down; return 0, or 1 with a sentence when that failed."""
    down = [*LAB, "down", "--name", name, *(["--engine-too"] if engine_too else [])]
    headline(shown_command(down))
    try:
        run(down, environment)
    except DemoError as error:
        print(f"error: the lab may still be up: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
