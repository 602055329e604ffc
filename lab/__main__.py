# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Command line of the lab: `python -m lab up|down|status|link|host|kill|fault|model|hub|wheels|engine`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from docker.errors import DockerException

from lab.docker_engine import connect, ensure_engine, stop_engine
from lab.engine_choice import chosen_engines
from lab.errors import LabError
from lab.faults import FAULTS
from lab.hosts import lab_names
from lab.hub.container import WHEELS
from lab.lab import Lab
from lab.progress import progress
from lab.state import remembered_labs

DEFAULT_LAB = "demo"
DEFAULT_INVENTORY = Path("inventories/lab")


def existing(name: str) -> Lab:
    """Return a lab on an engine that answers; raises LabError when none does."""
    client = connect()
    if client is None:
        raise LabError("No Docker Engine answers, so no lab is up: `python -m lab up` starts both.")
    return Lab(client, name)


def up(options: argparse.Namespace) -> None:
    """Make a lab or repair it."""
    engines = chosen_engines(options.engine)
    inventory = options.inventory or (DEFAULT_INVENTORY if options.name == DEFAULT_LAB else None)
    Lab(ensure_engine(), options.name).up(options.hosts, engines, inventory, options.light, options.gateway)


def down(options: argparse.Namespace) -> None:
    """Remove one lab or all, and stop the engine if asked to."""
    client = connect()
    if client is None:
        progress("no Docker Engine answers: no lab is up")
    else:
        names = sorted({*lab_names(client), *remembered_labs()}) if options.all else [options.name]
        for name in names:
            Lab(client, name).down()
    if options.engine_too:
        stop_engine()


def status(options: argparse.Namespace) -> None:
    """Print one line per host."""
    rows = existing(options.name).status()
    if not rows:
        print(f"lab '{options.name}' has no hosts")
        return
    print(f"{'HOST':<9}{'STATE':<10}{'ADDRESS':<17}{'SSH':<6}FABRIC")
    for row in rows:
        links = "  ".join(f"{link.interface} {link.address} {row.links[link.interface]}" for link in row.host.links)
        print(f"{row.host.name:<9}{row.state:<10}{row.address:<17}{'yes' if row.sshd else 'no':<6}{links}")


def link(options: argparse.Namespace) -> None:
    """Cut, slow or restore the fabric links of a host."""
    lab = existing(options.name)
    if options.action == "cut":
        lab.cut(options.host, options.port)
    elif options.action == "slow":
        lab.slow(options.host, options.port, options.rate, options.loss)
    else:
        lab.restore(options.host, options.port)


def host(options: argparse.Namespace) -> None:
    """Stop, start, reboot or crash hosts, or restart their Docker."""
    lab = existing(options.name)
    if options.action == "crash":
        lab.crash_hosts(*options.host)
        return
    actions = {
        "stop": lab.stop_host,
        "start": lab.start_host,
        "reboot": lab.reboot_host,
        "restart-docker": lab.restart_docker,
    }
    for name in options.host:
        actions[options.action](name)


def kill(options: argparse.Namespace) -> None:
    """Kill something inside a host."""
    lab = existing(options.name)
    actions = {"engine": lab.kill_engine, "worker": lab.kill_worker, "supervisor": lab.kill_supervisor}
    actions[options.what](options.host)


def fault(options: argparse.Namespace) -> None:
    """List faults, plant one or mend one or all of a host."""
    if options.action == "list":
        for name, one in FAULTS.items():
            print(f"{name:<22}{one.about}")
    elif options.host is None or (options.action == "plant" and options.fault is None):
        raise LabError("Say where and what: `python -m lab fault plant HOST FAULT` or `python -m lab fault mend HOST`.")
    elif options.action == "plant":
        existing(options.name).plant(options.host, options.fault)
    else:
        mended = existing(options.name).mend(options.host, options.fault)
        progress(f"{options.host}: mended {', '.join(mended) or 'nothing, for nothing was planted'}")


def model(options: argparse.Namespace) -> None:
    """Lay one of the lab's models into the Hugging Face cache of a host's user."""
    from lab.engines.engine import tiny_models  # here, so that only who asks for a model loads the builders

    models = tiny_models()
    if options.model not in models:
        raise LabError(f"There is no lab model '{options.model}'; there are {' and '.join(sorted(models))}.")
    revision = existing(options.name).lay_hub_model(
        options.host, options.id or f"lab/{options.model}", models[options.model], options.padding * 1_000_000
    )
    print(revision)


def hub(options: argparse.Namespace) -> None:
    """Start or remove the hub of a lab, and fill it."""
    lab = existing(options.name)
    if options.action == "down":
        lab.hub_down()
        return
    server = lab.hub()
    for text in options.model:
        name, _equals, folder = text.partition("=")
        if not Path(folder).is_dir():
            raise LabError(f"--model is '{text}', wanted ORG/NAME=FOLDER with a folder that is there.")
        server.add(name, Path(folder))
    progress(f"hosts download from {server.url}, and have Python packages in {WHEELS}")


def wheels(options: argparse.Namespace) -> None:
    """Lay the Python packages of gateways into hosts."""
    lab = existing(options.name)
    for name in options.host:
        lab.lay_gateway_wheels(name)
    progress(f"{' and '.join(options.host)}: Python packages of gateways are in {WHEELS}")


def engine(_options: argparse.Namespace) -> None:
    """Stop the Docker Engine that the lab started."""
    stop_engine()


def command_line() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = argparse.ArgumentParser(prog="python -m lab", description="Spark-like test hosts in containers.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, work: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(work=work)
        return made

    def named(made: argparse.ArgumentParser) -> None:
        made.add_argument("--name", default=DEFAULT_LAB, help="the lab's name (default: %(default)s)")

    made = command("up", up, "make a lab, or what is missing of it, and write its inventory")
    named(made)
    made.add_argument("--hosts", type=int, default=2, help="number of hosts (default: %(default)s)")
    made.add_argument(
        "--engine",
        action="append",
        default=[],
        help="engine image to load, with its models: double, vllm-cpu or none; may be given several times, the first "
        "one sets the inventory's variables",
    )
    made.add_argument(
        "--inventory",
        type=Path,
        help=f"folder for the inventory (default: {DEFAULT_INVENTORY} for lab '{DEFAULT_LAB}', else in the cache)",
    )
    made.add_argument(
        "--gateway", action="store_true", help="leave gateway_enabled to the collection (else the inventory says false)"
    )
    made.add_argument("--light", action="store_true", help="hosts without systemd, for speed measurements")

    made = command("down", down, "remove a lab, whole or half-made")
    named(made)
    made.add_argument("--all", action="store_true", help="remove every lab")
    made.add_argument("--engine-too", action="store_true", help="then stop the Docker Engine, if the lab started it")

    named(command("status", status, "show hosts, addresses and links"))

    made = command("link", link, "pull, slow down or restore the QSFP links of a host")
    made.add_argument("action", choices=("cut", "slow", "restore"))
    made.add_argument("host", metavar="HOST")
    made.add_argument("--port", metavar="INTERFACE", help="one port, such as enp1s0f0np0 (default: both)")
    made.add_argument("--rate", default="100mbit", help="rate of a slow link (default: %(default)s)")
    made.add_argument("--loss", metavar="SHARE", help="share of packets that a slow link loses, such as 5%%")
    named(made)

    made = command("host", host, "stop, start, reboot or crash hosts (links are made again), or restart their Docker")
    made.add_argument("action", choices=("stop", "start", "reboot", "crash", "restart-docker"))
    made.add_argument("host", metavar="HOST", nargs="+", help="several hosts crash at the same moment")
    named(made)

    made = command("kill", kill, "kill the engine, its worker process or the rank's supervisor on a host")
    made.add_argument("what", choices=("engine", "worker", "supervisor"))
    made.add_argument("host", metavar="HOST")
    named(made)

    made = command("fault", fault, "list faults that a preflight finds, plant one in a host, mend one or all of a host")
    made.add_argument("action", choices=("list", "plant", "mend"))
    made.add_argument("host", metavar="HOST", nargs="?")
    made.add_argument("fault", metavar="FAULT", nargs="?")
    named(made)

    made = command("model", model, "lay a model of the lab into the Hugging Face cache of one host's user")
    made.add_argument("host", metavar="HOST")
    made.add_argument("model", metavar="MODEL", help="tiny-qwen3 or tiny-qwen3-moe")
    made.add_argument("--id", metavar="ORG/NAME", help="its name there (default: lab/MODEL)")
    made.add_argument("--padding", type=int, default=0, metavar="MB", help="files of so many MB beside the model's own")
    named(made)

    made = command("hub", hub, "start or remove a hub from which the hosts can download models")
    made.add_argument("action", choices=("up", "down"))
    made.add_argument("--model", action="append", default=[], metavar="ORG/NAME=FOLDER", help="a model that it has")
    named(made)

    made = command("wheels", wheels, f"lay the Python packages of LiteLLM and vllm-router into {WHEELS} of hosts")
    made.add_argument("host", metavar="HOST", nargs="+")
    named(made)

    made = command("engine", engine, "stop the Docker Engine, if the lab started it")
    made.add_argument("action", choices=("stop",))
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    options = command_line().parse_args(arguments)
    try:
        options.work(options)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except DockerException as error:
        print(f"lab: the Docker Engine refused: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted; `python -m lab down` removes what was made", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
