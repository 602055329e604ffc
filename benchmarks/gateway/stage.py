# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two mock engines with their doors on loopback: started, set, broken and asked."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.drained import Drained, text_of

NAMES = ("mock-0", "mock-1")
ENGINE_PORTS = (29801, 29802)
DOOR_PORTS = (29811, 29812)
STARTS_WITHIN = 20.0
POLL_SECONDS = 0.01


def ask(port: int, path: str, method: str = "GET", content: object = None, timeout: float = 5.0) -> tuple[int, bytes]:
    """One exchange on loopback: status and body; OSError when there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, None if content is None else json.dumps(content))
        reply = connection.getresponse()
        return reply.status, reply.read()
    except http.client.HTTPException as error:
        raise ConnectionError(str(error)) from error
    finally:
        connection.close()


def wait_until_answers(port: int, path: str = "/health", within: float = STARTS_WITHIN) -> float:
    """Wait for status 200 and return when it came; TimeoutError when it does not."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if ask(port, path)[0] == http.HTTPStatus.OK:
                return time.monotonic()
        except OSError:
            pass
        time.sleep(POLL_SECONDS)
    raise TimeoutError(f"nothing answers 200 to GET {path} on 127.0.0.1:{port} after {within:.0f} s")


class Stage:
    """Engines 0 and 1 and their doors; a context manager that ends what it started.

    :param folder: for drain flags and what the processes print
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.engines: list[subprocess.Popen[bytes]] = []
        self.doors: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Stage:
        self.engines = [self._start("engine", str(port)) for port in ENGINE_PORTS]
        doors = [":".join(map(str, each)) for each in zip(NAMES, DOOR_PORTS, ENGINE_PORTS, strict=True)]
        self.doors = self._start("doors", str(self.folder), *doors)
        try:
            for port in ENGINE_PORTS:
                wait_until_answers(port)
            for port in DOOR_PORTS:
                wait_until_answers(port, "/ready")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        for process in (*self.engines, *([self.doors] if self.doors else [])):
            process.kill()
            process.wait()

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "stage.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"benchmarks.gateway.{module}", *arguments], stdout=log, stderr=log
            )

    def set(self, **settings: float) -> None:
        """Set both engines, and forget what they counted."""
        for port in ENGINE_PORTS:
            ask(port, "/settings", "PUT", settings)

    def stats(self, number: int) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(ask(ENGINE_PORTS[number], "/stats")[1])
        return found

    def signal(self, number: int, what: signal.Signals) -> float:
        """Send an engine a signal; return when."""
        os.kill(self.engines[number].pid, what)
        return time.monotonic()

    def start_again(self, number: int, **settings: float) -> float:
        """Start an engine that has ended; return when its door says that it is ready."""
        self.engines[number].wait()
        self.engines[number] = self._start("engine", str(ENGINE_PORTS[number]))
        wait_until_answers(ENGINE_PORTS[number])
        ask(ENGINE_PORTS[number], "/settings", "PUT", settings)
        return wait_until_answers(DOOR_PORTS[number], "/ready")

    def drain(self, number: int) -> None:
        (self.folder / f"{NAMES[number]}.json").write_text(
            text_of(Drained(NAMES[number], "benchmark", time.time(), "measured")), encoding="utf-8"
        )

    def undrain(self, number: int) -> None:
        (self.folder / f"{NAMES[number]}.json").unlink()
