# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One container, through Docker's Unix socket. An edge.

A Docker that does not answer is never taken for a dead engine.
"""

from __future__ import annotations

import json
from typing import Any

from .plain_http import exchange
from .state import Container, Run

# Seconds for answers that come at once or not at all.
QUICK = 3.0
# Seconds that Docker may take for a start, and for a stop beyond the time that the engine gets.
SLOW = 60.0


class Docker:
    """The daemon behind one socket."""

    def __init__(self, socket_path: str) -> None:
        self.socket_path = socket_path

    def inspect(self, name: str) -> dict[str, Any] | None:
        """Docker's description of a container, or None when there is none.

        :raises OSError: Docker does not answer
        """
        status, body = exchange(self.socket_path, "GET", f"/containers/{name}/json", QUICK)
        if status == 404:
            return None
        if status != 200:
            raise ConnectionError(f"Docker answers with status {status}")
        try:
            return dict(json.loads(body))
        except (ValueError, TypeError) as error:
            raise ConnectionError("Docker's answer is not JSON") from error

    def look(self, name: str) -> Container:
        """The state of a container."""
        try:
            found = self.inspect(name)
            if found is None:
                return Container("missing")
            state = found["State"]
            return Container(
                status="running" if state["Running"] else "stopped",
                run=Run(str(found["Id"]), str(state["StartedAt"])),
                exit_code=int(state["ExitCode"]),
                oom_killed=bool(state["OOMKilled"]),
            )
        except (OSError, KeyError, TypeError, ValueError):
            return Container("unknown")

    def start(self, name: str) -> str:
        """Start a container; the error, or nothing."""
        return self._do(f"/containers/{name}/start", SLOW)

    def stop(self, name: str, timeout: float) -> str:
        """Stop a container, which is killed after ``timeout`` seconds; the error, or nothing."""
        return self._do(f"/containers/{name}/stop?t={round(timeout)}", SLOW + timeout)

    def kill(self, name: str) -> str:
        """Kill a container; the error, or nothing."""
        return self._do(f"/containers/{name}/kill", SLOW)

    def logs(self, name: str, lines: int) -> bytes:
        """The last lines of a container's output, both streams together.

        :raises OSError: Docker does not answer
        """
        _status, body = exchange(
            self.socket_path, "GET", f"/containers/{name}/logs?stdout=1&stderr=1&tail={lines}", QUICK
        )
        return without_frames(body)

    def _do(self, path: str, timeout: float) -> str:
        try:
            status, body = exchange(self.socket_path, "POST", path, timeout)
        except OSError as error:
            return str(error) or type(error).__name__
        # 304: it is so already. 404 and 409 of a stop or kill: it is gone or ended meanwhile; a look will tell.
        if status < 400:
            return ""
        try:
            return " ".join(str(json.loads(body)["message"]).split())
        except (ValueError, TypeError, KeyError):
            return f"status {status}"


def without_frames(body: bytes) -> bytes:
    """Take out the headers by which Docker marks the two streams of a container without a terminal."""
    parts, at = [], 0
    while at + 8 <= len(body):
        if body[at] > 2 or body[at + 1 : at + 4] != b"\0\0\0":
            return body
        size = int.from_bytes(body[at + 4 : at + 8], "big")
        parts.append(body[at + 8 : at + 8 + size])
        at += 8 + size
    return b"".join(parts)
