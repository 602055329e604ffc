# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that outlive the module call that starts them, and end by themselves: an edge, it runs processes.

Each has a file of its own with what came of it, so that a later call can ask. Its keeper, a process in a session of its
own, ends it after its limit; an interrupted run leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_whole

# Seconds between SIGTERM and SIGKILL.
GRACE = 5.0
SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")
# Seconds for a keeper to be there, and for a server to listen.
START_SECONDS = 5.0


def environment() -> dict[str, str]:
    """For the commands: answers in English, programs of sbin found."""
    return {**os.environ, "LC_ALL": "C", "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), *SBIN])}


def free_port(address: str) -> int:
    """A TCP port that is free at an address of this host.

    :raises OSError: when the host does not have the address
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.bind((address, 0))
        return int(one.getsockname()[1])


class Jobs:
    """The jobs of this host.

    :param folder: where their files are
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, name: str, argv: Sequence[str], limit: float) -> None:
        """Start a job; one of the same name that is left over is ended.

        :param limit: seconds after which it is ended
        """
        self.end(name)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        detached(lambda: self._keep(name, list(argv), limit))
        until = time.monotonic() + START_SECONDS
        while not self._keeper(name) and time.monotonic() < until:
            time.sleep(0.01)

    def look(self, name: str) -> dict[str, Any] | None:
        """What came of a job: ``code``, ``out``, ``err``; None while it runs."""
        keeper = self._keeper(name)
        is_alive = keeper and _is_keeper(keeper)
        try:
            return dict(json.loads(self._file(name, "ended").read_text(encoding="utf-8")))
        except FileNotFoundError:
            pass
        if is_alive:
            return None
        return {"code": -1, "out": "", "err": "it was ended by somebody else, or never started"}

    def end(self, name: str) -> None:
        """End a job if it still runs, and remove its files."""
        keeper = self._keeper(name)
        if keeper and _is_keeper(keeper):
            with suppress(ProcessLookupError):
                os.kill(keeper, signal.SIGTERM)
            until = time.monotonic() + GRACE + 1
            while _is_keeper(keeper) and time.monotonic() < until:
                time.sleep(0.05)
        for path in self.folder.glob(f"{name}.*"):
            path.unlink(missing_ok=True)

    def names(self) -> list[str]:
        """All jobs that have left a file."""
        return sorted(path.name.removesuffix(".keeper") for path in self.folder.glob("*.keeper"))

    def _file(self, name: str, kind: str) -> Path:
        return self.folder / f"{name}.{kind}"

    def _keeper(self, name: str) -> int:
        try:
            return int(self._file(name, "keeper").read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return 0

    def _keep(self, name: str, argv: list[str], limit: float) -> None:
        """Be the keeper of a job: runs in a process of its own."""
        write_whole(self._file(name, "keeper"), str(os.getpid()).encode())
        out, err = self._file(name, "out"), self._file(name, "err")
        with open(out, "wb") as to_out, open(err, "wb") as to_err:
            try:
                child = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=to_out,
                    stderr=to_err,
                    env=environment(),
                    start_new_session=True,
                )
            except OSError as error:
                self._write(name, 127, "", str(error))
                return
            signal.signal(signal.SIGTERM, lambda _signal, _frame: _end_group(child.pid))
            try:
                code = child.wait(limit)
            except subprocess.TimeoutExpired:
                _end_group(child.pid)
                code = 124
        said = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
        if code == 124:
            said[1] += f"\nno end after {limit:.0f} s"
        self._write(name, code, *said)

    def _write(self, name: str, code: int, out: str, err: str) -> None:
        write_whole(self._file(name, "ended"), json.dumps({"code": code, "out": out, "err": err}).encode())


def _end_group(leader: int) -> None:
    """Ask a process group to end, and make it."""
    until = time.monotonic() + GRACE
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGTERM)
        while time.monotonic() < until:
            if os.waitpid(leader, os.WNOHANG)[0]:
                return
            time.sleep(0.05)
        os.killpg(leader, signal.SIGKILL)


def _is_keeper(pid: int) -> bool:
    """Whether this process is still one of ours: its number may be another's by now, and a dead one is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # A keeper leads its session.
    return stat[0] != "Z" and stat[3] == str(pid)


def detached(work: Callable[[], None]) -> None:
    """Do work in a process that has nothing to do with this one any more."""
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        return
    # The child never returns from here, whatever happens.
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        work()
    finally:
        os._exit(0)
