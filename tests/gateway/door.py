# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the door of a replica's supervisor, with switches."""

from __future__ import annotations

import contextlib
import http.client
import json
import socketserver
import threading


class Door:
    """Answers GET /ready and the agent's line on a loopback port.

    :ivar ready: what the supervisor thinks; the engine's own /health must be fine besides
    :ivar told_drain: the agent's last line was that it drains
    """

    def __init__(self, engine_port: int) -> None:
        """Listen on a free port."""
        self.ready, self.draining, self.pressure = True, False, False
        self.told_drain = False
        self._engine_port = engine_port
        door = self

        class Handler(socketserver.StreamRequestHandler):
            """One question."""

            def handle(self) -> None:
                """Answer it and end the connection."""
                with contextlib.suppress(OSError):
                    self.wfile.write(door.answer(self.rfile.readline().decode().strip()))

        class Server(socketserver.ThreadingTCPServer):
            """A server that can be made again on its port at once."""

            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, line: str) -> bytes:
        """Return the answer to a first line."""
        if line == "agent":
            self.told_drain = self.draining
            return b"drain\n" if self.draining else b"ready up 0%\n" if self.pressure else b"ready up 100%\n"
        ready = self.ready and self._healthy()
        if "new=1" in line and (self.draining or self.pressure):
            ready = False
        body = json.dumps({"ready": ready, "draining": self.draining, "pressure": self.pressure})
        status = "200 OK" if ready else "503 Service Unavailable"
        return (
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"connection: close\r\n\r\n{body}"
        ).encode()

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._engine_port, timeout=1.0)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def reset(self) -> None:
        """Put all switches back."""
        self.ready, self.draining, self.pressure = True, False, False

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
