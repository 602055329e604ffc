# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mock engines as processes of their own, each with a door."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.gateway.door import Door

PROGRAM = Path(__file__).with_name("mock_engine.py")
START_SECONDS = 20.0


def free_port() -> int:
    """Return a TCP port of loopback that nobody has now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(happened: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> float:
    """Wait, and return how long it took in seconds; fails with `what` when it does not happen."""
    begun = time.monotonic()
    while not happened():
        assert time.monotonic() - begun < seconds, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - begun


def listens(port: int) -> bool:
    """Say whether somebody listens on a port of loopback."""
    with socket.socket() as asked:
        asked.settimeout(1.0)
        return asked.connect_ex(("127.0.0.1", port)) == 0


class MockEngine:
    """One replica: a process on a loopback port, and its door in this process."""

    def __init__(self, name: str, key: str = "") -> None:
        """Start it."""
        self.name, self.key = name, key
        self.port = free_port()
        self.door = Door(self.port)
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, again on the same port, if it is not there."""
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, str(PROGRAM), self.name, str(self.port), *([self.key] if self.key else [])]
            self.process = subprocess.Popen(command)
            wait_until(lambda: listens(self.port), f"{self.name} listens")

    def kill(self) -> None:
        """End it at once."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def seen(self) -> dict[str, Any]:
        """Return what it saw since its start."""
        found: dict[str, Any] = self._ask("GET", "/mock/seen")
        return found

    def set(self, **wishes: Any) -> None:
        """Change how it answers from now on: hang, status."""
        self._ask("POST", "/mock/set", wishes)

    def described(self) -> dict[str, Any]:
        """Return this replica for the description of a gateway."""
        return {
            "name": self.name, "host": "spark1", "container": self.name, "address": "127.0.0.1", "port": self.port,
            "health_address": "127.0.0.1", "health_port": self.door.port,
        }  # fmt: skip

    def close(self) -> None:
        """End it and its door."""
        self.kill()
        self.door.close()
