# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host for a real supervisor process: folders below a root, Docker with one container, and the engine in it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MEMINFO = "MemTotal:       125829120 kB\nMemFree:        100000000 kB\nMemAvailable:   {} kB\n"
PLENTY = 115343360
ENV_VALUE = "a-value-that-nobody-may-save"


class FakeContainer:
    """What Docker knows of one container. ``events`` is shared by all containers of a test, in order."""

    def __init__(self, name: str, events: list[str]) -> None:
        self.name, self.events = name, events
        self.exists, self.running, self.exit_code = True, False, 0
        self.starts = itertools.count(1)
        self.started_at = "0001-01-01T00:00:00Z"
        self.answers = True
        self.lock = threading.Lock()

    def start(self, by: str = "started") -> None:
        with self.lock:
            if not self.running:
                self.running, self.exit_code = True, 0
                self.started_at = f"2026-11-29T12:00:00.{next(self.starts):09}Z"
                self.events.append(f"{self.name} {by}")

    def end(self, code: int, how: str) -> None:
        with self.lock:
            if self.running:
                self.running, self.exit_code = False, code
                self.events.append(f"{self.name} {how}")

    def restart(self) -> None:
        """As `docker restart` by somebody else."""
        with self.lock:
            self.started_at = f"2026-11-29T12:00:00.{next(self.starts):09}Z"

    def described(self) -> dict[str, Any]:
        with self.lock:
            return {
                "Id": f"id-of-{self.name}",
                "Name": f"/{self.name}",
                "State": {
                    "Running": self.running,
                    "ExitCode": self.exit_code,
                    "OOMKilled": False,
                    "StartedAt": self.started_at,
                },
                "Config": {"Env": [f"HF_TOKEN={ENV_VALUE}"], "Cmd": ["serve", "--api-key", ENV_VALUE]},
            }


class _DockerHandler(BaseHTTPRequestHandler):
    server: FakeDocker

    def address_string(self) -> str:
        return "supervisor"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        container = self.server.container
        path, _mark, _query = self.path.partition("?")
        _empty, _containers, name, verb = path.split("/")
        if not container.answers:
            self.close_connection = True
            return
        if not container.exists or name != container.name:
            self._send(404, json.dumps({"message": f"No such container: {name}"}).encode())
        elif verb == "json":
            self._send(200, json.dumps(container.described()).encode())
        elif verb == "logs":
            line = f"last words of {name}, token=hf_abcdefghijkl\n".encode()
            self._send(200, b"\x01\0\0\0" + len(line).to_bytes(4, "big") + line)
        else:
            if verb == "start":
                container.start()
            else:
                container.end(137, "stopped" if verb == "stop" else "killed")
            self._send(204, b"")

    do_GET = do_POST = _answer

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class FakeDocker(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Docker's socket with one container behind it."""

    daemon_threads = True

    def __init__(self, path: Path, container: FakeContainer) -> None:
        self.container = container
        super().__init__(str(path), _DockerHandler)


class _EngineHandler(BaseHTTPRequestHandler):
    server: FakeEngine

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        engine = self.server
        bodies = {"/health": "", "/v1/models": '{"data": [{"id": "tiny"}]}'}
        known = engine.container.running and self.path in ("/metrics", *bodies)
        self._send(known, engine.metrics() if self.path == "/metrics" else bodies.get(self.path, ""))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.generations += 1
        self._send(self.server.container.running, '{"usage": {"completion_tokens": 1}}')

    def _send(self, known: bool, text: str) -> None:
        body = text.encode()
        self.send_response(200 if known else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class FakeEngine(ThreadingHTTPServer):
    """The API of the engine in a container: healthy as soon as it runs, and it generates whenever it is asked."""

    def __init__(self, container: FakeContainer, host: str = "127.0.0.1") -> None:
        self.container = container
        self.tokens = self.generations = 0
        super().__init__((host, 0), _EngineHandler)

    def metrics(self) -> str:
        self.tokens += 100
        filler = "".join(f'vllm:time_to_first_token_seconds_bucket{{le="{n}"}} {n}\n' for n in range(400))
        return (
            "# HELP vllm:num_requests_running Number of requests.\n"
            f'{filler}vllm:num_requests_running{{engine="0",model_name="tiny"}} 2.0\n'
            'vllm:num_requests_waiting{engine="0",model_name="tiny"} 1.0\n'
            f'vllm:generation_tokens_total{{engine="0",model_name="tiny"}} {float(self.tokens)}\n'
        )


class FakeHost:
    """All that one supervisor touches, and the supervisor itself as a process.

    :param root: a short path, for a Unix socket lies below it
    :param spec: the supervision spec; ``api`` is filled in where it is ``"engine"``
    """

    def __init__(self, root: Path, program: Path, spec: Mapping[str, Any], events: list[str]) -> None:
        self.root, self.program, self.name = root, program, spec["container"]
        self.container = FakeContainer(self.name, events)
        for folder in ("var/run", "proc/sys/kernel/random", "etc/dgxspark-serving/replicas"):
            (root / folder).mkdir(parents=True)
        (root / "proc/sys/kernel/random/boot_id").write_text("this-boot\n")
        self.set_memory(PLENTY)
        self.servers: list[socketserver.BaseServer] = [FakeDocker(root / "var/run/docker.sock", self.container)]
        spec = dict(spec)
        self.engine: FakeEngine | None = None
        if spec["api"] == "engine":
            self.engine = FakeEngine(self.container)
            self.servers.append(self.engine)
            spec["api"] = f"http://127.0.0.1:{self.engine.server_port}"
        self.write_spec(spec)
        for server in self.servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.process: subprocess.Popen[bytes] | None = None

    def write_spec(self, spec: Mapping[str, Any]) -> None:
        self.spec = dict(spec)
        (self.root / f"etc/dgxspark-serving/replicas/{self.name}.json").write_text(json.dumps(self.spec))

    def set_memory(self, available: int) -> None:
        """MemAvailable in KiB."""
        path = self.root / "proc/meminfo"
        part = path.with_name("meminfo.part")
        part.write_text(MEMINFO.format(available))
        os.replace(part, path)

    def start(self) -> None:
        with open(self.root / "journal", "ab") as journal:
            self.process = subprocess.Popen(
                [sys.executable, "-u", str(self.program), "--root", str(self.root), "run", self.name],
                stdout=journal,
                stderr=journal,
            )

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """End the supervisor as a crash does; the container runs on."""
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def live(self) -> dict[str, Any]:
        """The live state; empty before there is one."""
        try:
            return dict(json.loads((self.root / f"run/dgxspark-serving/{self.name}.json").read_text()))
        except FileNotFoundError:
            return {}

    def journal(self) -> str:
        return (self.root / "journal").read_text()

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
        for server in self.servers:
            server.shutdown()
            server.server_close()
