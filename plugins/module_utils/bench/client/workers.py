# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A second process, and more, for more users than one can serve truly. An edge: it forks.

Each worker opens its connections and says so; then all get the same start on the clock that the kernel keeps for all
processes, so that their times need no conversion. What they found comes back through a pipe.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# Users that one process serves truly: benchmark.md 5.1.
USERS = 256
# From the moment that the last worker is ready to the start, in seconds.
RUN_UP_S = 0.05
_READY, _PROGRESS, _RESULT, _FAILED = b"R", b"P", b"E", b"F"
_HEAD = struct.Struct("!cI")

Progress = Callable[[int, int, int, float], None]


@dataclass(frozen=True)
class Line:
    """What a worker has of its parent.

    :ivar number: of the worker, from 0
    """

    number: int
    go: int
    out: int

    def start(self) -> float:
        """Say that all is open, and wait for the start; give its time."""
        _send(self.out, _READY, b"")
        said = os.read(self.go, 8)
        when = struct.unpack("!d", said)[0] if len(said) == 8 else time.perf_counter()
        time.sleep(max(0.0, when - time.perf_counter()))
        return when

    def progress(self, done: int, in_flight: int, failed: int, seconds: float) -> None:
        """Tell how far it is."""
        _send(self.out, _PROGRESS, pickle.dumps((done, in_flight, failed, seconds)))

    def over(self) -> bool:
        """Say whether the parent has hung up."""
        return bool(select.select([self.go], [], [], 0)[0])


@dataclass
class _Worker:
    pid: int
    go: int
    out: int
    told: tuple[int, int, int, float] = (0, 0, 0, 0.0)
    data: bytes = b""
    result: Any = None
    messages: list[bytes] = field(default_factory=list)


def share_of(total: int, parts: int) -> list[int]:
    """Split a number as evenly as it can be."""
    return [total // parts + (part < total % parts) for part in range(parts)]


def number_for(users: int) -> int:
    """How many processes so many users need."""
    return max(1, -(-users // USERS))


def work_apart(
    number: int, job: Callable[[Line], Any], *, on_progress: Progress | None, over: Callable[[], bool] | None
) -> list[Any]:
    """Let so many processes do the job; give what each returned. One that dies is a `ChildProcessError`."""
    workers: list[_Worker] = []
    try:
        for each in range(number):
            workers.append(_fork(each, job, [fd for one in workers for fd in (one.go, one.out)]))
        _wait(workers, lambda worker: _READY in worker.messages)
        start = struct.pack("!d", time.perf_counter() + RUN_UP_S)
        for worker in workers:
            with contextlib.suppress(BrokenPipeError):
                os.write(worker.go, start)
        _wait(workers, lambda worker: worker.result is not None, lambda: _look(workers, on_progress, over))
        return [worker.result[0] for worker in workers]
    finally:
        for worker in workers:
            _hang_up(worker)
            os.close(worker.out)
            os.waitpid(worker.pid, 0)


def _fork(number: int, job: Callable[[Line], Any], others: list[int]) -> _Worker:
    go_read, go_write = os.pipe()
    out_read, out_write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(go_read)
        os.close(out_write)
        return _Worker(pid, go_write, out_read)
    status = 1
    try:
        for fd in (go_write, out_read, *others):
            with contextlib.suppress(OSError):
                os.close(fd)
        result = job(Line(number, go_read, out_write))
        _send(out_write, _RESULT, pickle.dumps((result,)))
        status = 0
    except Exception as fault:
        _send(out_write, _FAILED, f"{type(fault).__name__}: {fault}".encode())
    finally:
        # Nothing of the parent's is flushed, closed or cleaned up here.
        os._exit(status)


def _wait(workers: list[_Worker], done: Callable[[_Worker], bool], look: Callable[[], None] | None = None) -> None:
    """Read what the workers say until each is done."""
    while missing := [worker for worker in workers if not done(worker)]:
        for fd in select.select([worker.out for worker in missing], [], [], 0.1)[0]:
            worker = next(worker for worker in missing if worker.out == fd)
            piece = os.read(fd, 1 << 20)
            if not piece:
                raise ChildProcessError(
                    f"worker process {worker.pid} of the benchmark's client ended without its result"
                )
            worker.data += piece
            _take(worker)
        if look is not None:
            look()


def _take(worker: _Worker) -> None:
    while len(worker.data) >= _HEAD.size:
        kind, length = _HEAD.unpack_from(worker.data)
        if len(worker.data) < _HEAD.size + length:
            return
        body = worker.data[_HEAD.size : _HEAD.size + length]
        worker.data = worker.data[_HEAD.size + length :]
        if kind == _RESULT:
            worker.result = pickle.loads(body)
        elif kind == _FAILED:
            raise ChildProcessError(f"a worker process of the benchmark's client failed: {body.decode()}")
        elif kind == _PROGRESS:
            worker.told = pickle.loads(body)
        else:
            worker.messages.append(kind)


def _look(workers: list[_Worker], on_progress: Progress | None, over: Callable[[], bool] | None) -> None:
    """Pass on how far all are, once each has said so; end all when it is over."""
    seconds = min(worker.told[3] for worker in workers)
    if on_progress is not None and seconds > 0.0:
        done, in_flight, failed = (sum(worker.told[at] for worker in workers) for at in range(3))
        on_progress(int(done), int(in_flight), int(failed), seconds)
        for worker in workers:
            worker.told = (*worker.told[:3], 0.0)
    if over is not None and over():
        for worker in workers:
            _hang_up(worker)


def _hang_up(worker: _Worker) -> None:
    if worker.go >= 0:
        os.close(worker.go)
        worker.go = -1


def _send(fd: int, kind: bytes, body: bytes) -> None:
    data = memoryview(_HEAD.pack(kind, len(body)) + body)
    while data:
        data = data[os.write(fd, data) :]
