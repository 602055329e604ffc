# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API of an engine that does what a test wants, as a real server on loopback."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 60.0  # seconds until a request that a test forgot ends


class FakeEngine(ThreadingHTTPServer):
    """:ivar statuses: of answers, by path; 200 where nothing is said
    :ivar gate: answers wait until it is set, those of ``held`` paths only
    :ivar key: what the paths below /v1 want, where it is not empty
    :ivar asked: paths in the order in which they were asked for
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses: dict[str, int] = {}
        self.names = ["tiny"]
        self.tokens = 1
        self.metrics = "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"
        self.held: set[str] = set()
        self.gate = threading.Event()
        self.key = ""
        self.asked: list[str] = []
        self.wishes: list[dict[str, Any]] = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def count(self, path: str) -> int:
        return self.asked.count(path)

    def close(self) -> None:
        self.gate.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FakeEngine

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        content = {
            "/v1/models": json.dumps({"data": [{"id": name} for name in self.server.names]}),
            "/metrics": self.server.metrics,
        }
        self._answer(content.get(self.path, ""))

    def do_POST(self) -> None:
        self.server.wishes.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer(json.dumps({"usage": {"completion_tokens": self.server.tokens}}))

    def _answer(self, text: str) -> None:
        engine = self.server
        engine.asked.append(self.path)
        if self.path in engine.held:
            engine.gate.wait(PATIENCE)
        status = engine.statuses.get(self.path, 200)
        if self.path.startswith("/v1/") and engine.key and self.headers["Authorization"] != f"Bearer {engine.key}":
            status = 401
        body = text.encode() if status == 200 else json.dumps({"error": {"message": f"no {self.path}"}}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
