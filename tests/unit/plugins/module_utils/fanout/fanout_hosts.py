# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts for tests of the fan-out: processes of this machine, each with a folder and a loopback address of its own."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import job, protocol
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import payload_of
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.place import Place

# Far more than any machine needs; nothing waits for it but a failure.
PATIENCE = 60.0
TOKEN = "token0of0the0test"
MIB = 1 << 20


def until(happened: Callable[[], Any], what: str) -> None:
    """Wait for something that has to happen."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            pytest.fail(f"has not happened: {what}")
        time.sleep(0.01)


def content(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def manifest_of(files: dict[str, bytes], links: dict[str, str] | None = None, **more: str) -> dict[str, Any]:
    """A manifest of what a test made up."""
    entries: list[dict[str, Any]] = [
        {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for path, data in files.items()
    ]
    entries += [{"path": path, "link": target} for path, target in (links or {}).items()]
    entries.sort(key=lambda entry: entry["path"])
    return {"format": 1, "model": "acme/tiny", "hub": "path", "revision": "", **more, "entries": entries}


def lay(root: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> None:
    """Put files and links into a folder."""
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    for path, target in (links or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.2", 0))
        return int(probe.getsockname()[1])


class _Teller:
    """Writes down what a host says of its work."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def say(self, **status: Any) -> None:
        part = self._path.with_suffix(".new")
        part.write_text(json.dumps(status))
        part.replace(self._path)

    def tell(self, done: int, total: int, text: str = "") -> None:
        """Nothing is asked of it here."""

    def finish(self, result: dict[str, Any]) -> None:
        self.say(state="done", result=result)


class Host:
    """One host.

    :param number: the last number of its address
    """

    def __init__(self, folder: Path, number: int, manifest: dict[str, Any], port: int) -> None:
        self.address = f"127.0.0.{number}"
        self.root = folder / f"host{number}" / "tiny"
        self._status = folder / f"status{number}.json"
        self.manifest = manifest
        payload = payload_of(manifest)
        self.order = Order(
            what="model acme/tiny",
            payload=payload,
            place=Place(str(self.root), payload),
            listen=[self.address],
            port=port,
            peers=["127.0.0.1"],
            upstreams=[],
            token=TOKEN,
            streams=3,
            stall=20,
        )
        self._process: Any = None

    def begin(self, *above: str, **changes: Any) -> Host:
        """Serve, or copy from these hosts, nearest first."""
        order = replace(self.order, upstreams=[[address] for address in above], **changes)
        self._status.unlink(missing_ok=True)

        def work() -> None:
            teller = _Teller(self._status)
            try:
                if above:
                    teller.finish(job.copy(order, teller, self.manifest))
                else:
                    job.serve(order, teller)
            except WorkFailed as error:
                teller.say(state="failed", error=str(error))

        self._process = multiprocessing.get_context("fork").Process(target=work, daemon=True)
        self._process.start()
        return self

    def ended(self) -> dict[str, Any]:
        """What it says in the end."""
        until(self._status.exists, f"{self.address} has ended")
        return dict(json.loads(self._status.read_text()))

    def result(self) -> dict[str, Any]:
        status = self.ended()
        assert status["state"] == "done", status
        return dict(status["result"])

    def kill(self) -> None:
        """As with ``kill -9`` of the process alone; its children have to go with it."""
        self._process.kill()
        self._process.join()

    def stop(self) -> None:
        if self._process and self._process.is_alive():
            self.kill()

    def sent(self) -> int:
        """Bytes that it has given to others."""
        return int(json.loads(get(self, protocol.STATUS)[1])["sent"])

    def parts(self) -> list[Path]:
        return sorted(self.root.parent.rglob("*.part"))


def get(host: Host, path: str, token: str = TOKEN, source: str = "127.0.0.1", offset: int = 0) -> tuple[int, bytes]:
    """Ask a host for something: HTTP status and body."""
    with socket.create_connection(
        (host.address, host.order.port), timeout=PATIENCE, source_address=(source, 0)
    ) as connection:
        connection.sendall(protocol.request(path, host.address, token, offset))
        received = b""
        while not (end := protocol.head_end(received)):
            received += connection.recv(65536)
        length = int(received.split(b"Content-Length: ")[1].split(b"\r\n", 1)[0])
        while len(received) < end + length:
            received += connection.recv(65536)
    return int(received[9:12]), received[end:]


class Gate:
    """A source that gives some bytes of each file and then holds, until it is opened or closed.

    :param once: whether it closes a connection after one file
    """

    def __init__(
        self, address: str, port: int, host: Host, files: dict[str, bytes], most: int, once: bool = False
    ) -> None:
        self.address = address
        self._host, self._files, self._most, self._once = host, files, most, once
        self._open = threading.Event()
        self.given = 0
        self._listener = socket.create_server((address, port))
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def open(self) -> None:
        self._open.set()

    def close(self) -> None:
        """As when its host dies."""
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()[0]
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        paths = {f"/{file.number}": file.path for file in self._host.order.payload.files}
        try:
            while asked := connection.recv(4096).decode():
                data = self._files[paths[asked.split()[1]]]
                offset = int(asked.split("bytes=")[1].split("-")[0]) if "Range" in asked else 0
                connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(data) - offset}\r\n\r\n".encode())
                connection.sendall(data[offset : self._most])
                self.given += max(0, self._most - offset)
                self._open.wait()
                connection.sendall(data[max(offset, self._most) :])
                if self._once:
                    connection.shutdown(socket.SHUT_RDWR)
        except (OSError, KeyError):
            connection.close()
