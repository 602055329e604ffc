# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request for tokens that outlives the module which sends it. An edge: it forks, and keeps two small files.

The first generation can take minutes while kernels are compiled. A process of its own waits for the answer, so that
the module can return and say how far it is; later looks find the answer. One wait sends one request for one start of a
container, never two, for a second one would queue behind the first and double the load.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.readiness import Generation

# Seconds after its own limit in which the process that asks must have written what it got.
GRACE = 10.0


class GenerationRequest:
    """The request of one wait for one container.

    :ivar wait: id of the wait
    :ivar target: what is asked, its start included: a container that was started again is asked again
    """

    def __init__(self, folder: Path, container: str, wait: str, target: str) -> None:
        self._asked = folder / f"{container}.asked"
        self._answer = folder / f"{container}.answer"
        self.wait = wait
        self.target = target

    def state(self, timeout: float) -> tuple[Generation | None, float | None]:
        """Give the answer if there is one, and the seconds since the request was sent if it was.

        :param timeout: seconds that the request may take
        """
        asked = _read(self._asked)
        if asked is None or asked.get("target") != self.target:
            return None, None
        answer = self._answer_to(asked)
        is_alive = _is_alive(int(asked["pid"]))
        if asked.get("wait") != self.wait:
            # A wait that was interrupted left it: its answer is old, but while it runs it is as good as a new one.
            if answer is not None or not is_alive:
                return None, None
            _write(self._asked, {**asked, "wait": self.wait})
        seconds = max(0.0, time.time() - float(asked["sent"]))
        if answer is not None:
            return Generation(**answer), seconds
        if seconds > timeout + GRACE:
            return Generation(error=f"no answer within {timeout:g} s"), seconds
        if not is_alive:
            # It may have written its answer since it was looked for.
            answer = self._answer_to(asked)
            lost = Generation(error="the process that asked for it has ended without an answer")
            return (lost if answer is None else Generation(**answer)), seconds
        return None, seconds

    def send(self, generate: Callable[[], Generation]) -> None:
        """Let a process of its own do ``generate``, and come back at once.

        :raises OSError: when there can be no process or no file
        """
        token = f"{time.time_ns()}.{os.getpid()}"
        pid = os.fork()
        if pid == 0:
            self._work(token, generate)
        _write(
            self._asked,
            {"wait": self.wait, "target": self.target, "token": token, "sent": time.time(), "pid": pid},
        )

    def _answer_to(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        answer = _read(self._answer)
        return answer["generation"] if answer is not None and answer.get("token") == asked.get("token") else None

    def _work(self, token: str, generate: Callable[[], Generation]) -> None:
        """Live as the process that asks; never returns."""
        try:
            os.setsid()
            # Whoever reads the module's output waits until nobody holds it any more.
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            _write(self._answer, {"token": token, "generation": asdict(generate())})
        finally:
            # Not sys.exit: the module's clean-up is the module's.
            os._exit(0)


def folder_for(state_folder: str) -> Path:
    """Make and return a folder that only this user can write: below ``state_folder``, else among temporary files.

    :raises OSError: when there is none
    """
    wanted = Path(state_folder) / "ready"
    try:
        wanted.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.access(wanted, os.W_OK):
            return wanted
    except OSError:
        pass  # not root: there is another place
    private = Path(tempfile.gettempdir()) / f"dgxspark-serving-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    found = private.lstat()
    # The name can be guessed: somebody else may have made it first.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"{private} is not a folder of this user alone")
    return private


def is_running(pid: int) -> bool:
    """Whether there is a process of this number, whoever owns it."""
    return pid > 0 and Path("/proc", str(pid)).exists()


def _is_alive(pid: int) -> bool:
    """As ``is_running``, but a child that ended and was not waited for counts as ended."""
    try:
        state = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[:1] != ["Z"]


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, content: dict[str, Any]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(content), encoding="utf-8")
    os.replace(part, path)
