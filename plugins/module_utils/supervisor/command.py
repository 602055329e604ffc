# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of supervisor.pyz."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from . import change, evidence
from .docker_socket import Docker
from .host import Host, Refused
from .hostpaths import HostPaths
from .run import Supervisor
from .said import say
from .spec import SpecError

# Exit code with which systemd does not try again.
NO_SPEC = 78


def main(argv: Sequence[str]) -> int:
    """Run one of the commands; the exit code."""
    parser = argparse.ArgumentParser(prog="supervisor.pyz", description="Supervises the ranks of dgxspark.serving.")
    parser.add_argument("--root", type=Path, default=Path("/"), help="folder that stands for / in tests")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="supervise one rank; systemd runs this")
    run.add_argument("container", help="name of the rank's container")
    commands.add_parser("revert", help="take back a change whose run is dead; a timer of systemd runs this")
    gather = commands.add_parser("evidence", help="save what can be seen of all ranks on this host now")
    gather.add_argument("folder", type=Path)
    options = parser.parse_args(argv)
    paths = HostPaths(options.root)
    try:
        if options.command == "run":
            _ask_revert(paths)
            Supervisor(paths, options.container).run()
        elif options.command == "revert":
            change.revert_if_expired(Host(paths))
        else:
            save_all(paths, options.folder)
    except SpecError as error:
        say(error)
        return NO_SPEC
    except Refused as error:
        say(error)
        return 1
    return 0


def save_all(paths: HostPaths, folder: Path) -> list[str]:
    """Save evidence of each rank that has a spec on this host into a folder of its own; their names."""
    docker = Docker(str(paths.root / "var/run/docker.sock"))
    names = sorted(path.stem for path in paths.specs.glob("*.json"))
    for name in names:
        evidence.gather(folder / name, paths, docker, name, {"container": name, "word": "asked", "at": time.time()})
    return names


def _ask_revert(paths: HostPaths) -> None:
    """After a reboot in the middle of a change nobody but the ranks' supervisors is there to have it taken back."""
    try:
        change.ask_revert_if_expired(Host(paths))
    except (Refused, ValueError, OSError) as error:
        say(f"the change that is under way cannot be looked at: {error}")
