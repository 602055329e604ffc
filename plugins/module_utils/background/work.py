# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that outlives a call of its module: an edge, it makes processes.

The module's own process is doubled, so nothing has to be installed on a host, and the copy works on when the connection
breaks. It must not import anything of ours later: Ansible removes the module's files at the end of the call. Each call
waits for some seconds and says how far it is; the action plugin asks again, and shows it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn, Protocol

from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder, forget_old
from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import (
    DONE,
    FAILED,
    GONE,
    RUNNING,
    Status,
)

JOB_OPTIONS: dict[str, dict[str, Any]] = {
    "job_stage": {"type": "str", "choices": ["start", "poll", "stop"], "default": "start"},
    "job_id": {"type": "str", "default": ""},
    "job_wait": {"type": "float", "default": 10},
}
# Seconds between two writes of how far it is.
STEP = 0.5
BEAT = 2.0
# Seconds without a question and without progress after which work ends itself.
FORGOTTEN = 900.0
# Seconds that the new process has to say that it is there.
START = 30.0


class Module(Protocol):
    """What this needs of an ``AnsibleModule``."""

    params: dict[str, Any]
    check_mode: bool

    def exit_json(self, **result: Any) -> NoReturn: ...
    def fail_json(self, msg: str, **result: Any) -> NoReturn: ...


class WorkFailed(Exception):
    """The work cannot be done, for a reason that an operator can mend: sentences."""


class Progress:
    """What the work says of itself, from any of its threads."""

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._status = Status()
        self._written = 0.0
        self.moved = time.monotonic()

    def tell(self, done: int, total: int, text: str = "") -> None:
        """Say how far it is; cheap, for it is written down twice a second at most.

        :param done: bytes
        :param total: bytes; 0 when nobody knows
        """
        now = time.monotonic()
        with self._lock:
            if (done, text) != (self._status.done, self._status.text):
                self.moved = now
            self._status = Status(self._status.state, done, total, text, now - self._start, result=self._status.result)
            if now - self._written >= STEP:
                self._write()

    def finish(self, result: dict[str, Any]) -> None:
        """Say that it is done although the process goes on, as one does that still serves others."""
        self.end(DONE, result=result, stays=True)

    def beat(self) -> None:
        """Write down that it is still at it."""
        with self._lock:
            if self._status.state == RUNNING:
                self._status = replace(self._status, seconds=time.monotonic() - self._start)
                self._write()

    @property
    def ended(self) -> bool:
        """Whether its end was said."""
        return self._status.state != RUNNING

    def end(self, state: str, error: str = "", result: dict[str, Any] | None = None, stays: bool = False) -> None:
        """Say how it ended, or is about to."""
        with self._lock:
            was, seconds = self._status, time.monotonic() - self._start
            self._status = Status(state, was.done, was.total, was.text, seconds, error, result or {}, stays)
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        self._folder.write(self._status)


def run_job(module: Module, work: Callable[[Progress], dict[str, Any]], changed: bool = True) -> NoReturn:
    """Begin the work, ask how far it is, or end it, as the options say; the last call of a module.

    :param work: what it returns is the module's result, with ``changed`` if that is another than this
    :param changed: whether the work changes the host
    """
    options = module.params
    folder = JobFolder(options["job_id"] or "work")
    if module.check_mode:
        module.exit_json(changed=changed)
    if options["job_stage"] == "stop":
        folder.end()
        module.exit_json(changed=False)
    if options["job_stage"] == "start" and not folder.alive():
        forget_old()
        _begin(folder, work)
    status = folder.ask(options["job_wait"]) or Status(state=FAILED, error=GONE)
    # Who does not wait asks again, and is told then.
    if status.state != RUNNING and not status.stays and options["job_wait"]:
        folder.end()
    if status.state == FAILED:
        module.fail_json(msg=status.error, job=status.public())
    module.exit_json(**{"changed": changed and status.state == DONE, **status.result, "job": status.public()})


def _begin(folder: JobFolder, work: Callable[[Progress], dict[str, Any]]) -> None:
    folder.make()
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            _worker(folder, work)
        os._exit(0)
    os.waitpid(child, 0)
    until = time.monotonic() + START
    while folder.read() is None and time.monotonic() < until:
        time.sleep(0.02)


def _worker(folder: JobFolder, work: Callable[[Progress], dict[str, Any]]) -> NoReturn:
    """The new process, from here to its end."""
    try:
        _leave_the_call(folder)
        if folder.claim() is None:
            os._exit(0)  # another one is at it
        progress = Progress(folder)
        progress.beat()
        threading.Thread(target=_watch, args=(folder, progress), daemon=True).start()
        try:
            result = work(progress)
            if not progress.ended:
                progress.end(DONE, result=result)
        except WorkFailed as error:
            progress.end(FAILED, str(error))
        except Exception as error:
            os.write(2, traceback.format_exc().encode())
            words = f"{type(error).__name__}: {error}. This is a fault of the collection; please report it."
            progress.end(FAILED, words)
    finally:
        os._exit(0)


def _leave_the_call(folder: JobFolder) -> None:
    """Be a process group of its own that holds nothing of the call, whose end Ansible waits for."""
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDONLY)
    log = os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.closerange(3, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 65536 else 65536)
    for name in (signal.SIGHUP, signal.SIGPIPE):
        signal.signal(name, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _watch(folder: JobFolder, progress: Progress) -> None:
    """Say that it is still at it, and end it when nobody cares for it any more."""
    while True:
        time.sleep(BEAT)
        progress.beat()
        try:
            silent = time.time() - folder.asked.stat().st_mtime
        except FileNotFoundError:
            silent = FORGOTTEN + 1  # its folder was removed
        if silent > FORGOTTEN and time.monotonic() - progress.moved > FORGOTTEN:
            os.killpg(0, signal.SIGTERM)
