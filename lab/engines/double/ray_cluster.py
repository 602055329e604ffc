# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A little cluster that stands in for Ray's: a head that knows the nodes, and nodes that lend a worker.

Like the ranks it talks TCP with one JSON object per line. A node keeps a connection to the head open; its end, or
silence on it, is a dead node, and every program that watches the cluster is told.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from .log import log
from .ranks import Peers, follow, receive, send

HEARTBEAT = 1.0
SILENCE = 25.0  # seconds until a node that says nothing counts as dead
CONNECT_ATTEMPTS = 50
RETRY = 0.2


class ClusterError(Exception):
    """The cluster cannot be reached or does not answer; the text is for the user."""


@dataclass(frozen=True)
class Node:
    """A member of the cluster; `port` is where its worker takes part in steps."""

    identity: str
    ip: str
    port: int
    gpus: int


def state_folder() -> str:
    """Return the folder in which the processes of this host find each other."""
    return os.environ.get("RAY_TMPDIR") or "/tmp/ray"


def current_cluster() -> str | None:
    """Return HOST:PORT of the head that this host belongs to: $RAY_ADDRESS, else what `ray start` left."""
    address = os.environ.get("RAY_ADDRESS", "")
    if address and address != "auto":
        return address
    try:
        with open(os.path.join(state_folder(), "ray_current_cluster"), encoding="utf-8") as stream:
            return stream.read().strip() or None
    except OSError:
        return None


def split_address(address: str) -> tuple[str, int]:
    """Return host and port; raises ClusterError."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise ClusterError(f"{address!r} is no HOST:PORT")
    return host, int(port)


class Head:
    """The directory of the cluster."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._watchers: list[asyncio.StreamWriter] = []

    async def serve(self, host: str, port: int) -> asyncio.Server:
        """Listen; raises OSError when the address cannot be had."""
        return await asyncio.start_server(self._greet, host, port)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        message = await receive(reader)
        operation = (message or {}).get("operation")
        if message and operation == "register":
            await self._keep(Node(**message["node"]), reader, writer)
        elif operation in {"list", "watch"}:
            await send(writer, {"nodes": [asdict(node) for node in self._nodes.values()]})
            if operation == "watch":
                self._watchers.append(writer)
                await receive(reader)  # nothing comes: it ends with the watcher
                self._watchers.remove(writer)
        writer.close()

    async def _keep(self, node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._nodes[node.identity] = node
        await send(writer, {"welcome": True})
        while True:
            try:
                if await asyncio.wait_for(receive(reader), SILENCE) is None:
                    break
            except asyncio.TimeoutError:
                break
        del self._nodes[node.identity]
        log(f"node {node.ip} died", "gcs_node_manager.cc:1", "WARNING", "gcs_server")
        for watcher in list(self._watchers):
            try:
                await send(watcher, {"died": node.identity})
            except (ConnectionError, OSError):
                continue


async def _ask(address: str, operation: str) -> tuple[list[Node], asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = split_address(address)
    try:
        reader, writer = await asyncio.open_connection(host, port)
        await send(writer, {"operation": operation})
        answer = await receive(reader)
    except OSError as error:
        raise ClusterError(f"Failed to connect to GCS at address={address}: {error}") from None
    if answer is None:
        raise ClusterError(f"No Ray head answers at {address}")
    return [Node(**node) for node in answer["nodes"]], reader, writer


async def list_nodes(address: str) -> list[Node]:
    """Return the nodes that are alive; raises ClusterError."""
    nodes, _reader, writer = await _ask(address, "list")
    writer.close()
    return nodes


async def run_node(address: str, ip: str, gpus: int, on_joined: Any) -> None:
    """Be a node: lend a worker, stay registered; returns when the head is gone. Raises ClusterError."""

    async def work(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await follow(reader, writer, None)
        writer.close()

    worker = await asyncio.start_server(work, ip, 0)
    node = Node(os.urandom(16).hex(), ip, worker.sockets[0].getsockname()[1], gpus)
    host, port = split_address(address)
    for attempt in range(CONNECT_ATTEMPTS):
        try:
            reader, writer = await asyncio.open_connection(host, port)
            break
        except OSError as error:
            if attempt == CONNECT_ATTEMPTS - 1:
                raise ClusterError(f"Failed to connect to GCS at address={address}: {error}") from None
            await asyncio.sleep(RETRY)
    await send(writer, {"operation": "register", "node": asdict(node)})
    if await receive(reader) is None:
        raise ClusterError(f"The Ray head at {address} did not take this node")
    on_joined()
    gone = asyncio.ensure_future(receive(reader))
    while not gone.done():
        try:
            await send(writer, {"alive": True})
        except (ConnectionError, OSError):
            break
        await asyncio.wait({gone}, timeout=HEARTBEAT)
    worker.close()


async def connect_workers(address: str, count: int, timeout: float | None) -> tuple[Peers, asyncio.Task[str]]:
    """Return a group with `count` nodes, each lending its worker, and a task that ends with a death's description.

    Waits until the cluster has so many nodes with a GPU, as vLLM waits for its placement group.
    """
    peers = Peers(timeout)
    waited = 0
    while True:
        nodes, reader, writer = await _ask(address, "watch")
        usable = [node for node in nodes if node.gpus > 0]
        if len(usable) >= count:
            break
        writer.close()
        if waited % 50 == 0:
            log(
                f"Waiting for creating a placement group of {count} GPUs; the cluster has {len(usable)}",
                "ray_utils.py:1",
            )
        waited += 1
        await asyncio.sleep(RETRY)
    ranks = {}
    for rank, node in enumerate(usable[:count]):
        try:
            worker_reader, worker_writer = await asyncio.open_connection(node.ip, node.port)
        except OSError as error:
            raise ClusterError(f"The worker of node {node.ip} cannot be reached: {error}") from None
        peers.add(rank, worker_reader, worker_writer)
        ranks[node.identity] = rank

    async def watch() -> str:
        try:
            while True:
                message = await receive(reader)
                if message is None:
                    return "The Ray head died"
                if message.get("died") in ranks:
                    return f"RayWorkerProc rank=[{ranks[message['died']]}] died unexpectedly, shutting down executor."
        finally:
            writer.close()  # and it is kept until here: a writer that nobody holds closes its connection

    return peers, asyncio.ensure_future(watch())


def status_text(nodes: list[Node]) -> str:
    """Return what `ray status` prints."""
    lines = ["======== Autoscaler status ========", "Node status", "-" * 63, "Active:"]
    lines += [f" 1 node_{node.identity}" for node in nodes] or [" (no active nodes)"]
    lines += ["Pending:", " (no pending nodes)", "Recent failures:", " (no failures)", "", "Resources"]
    gpus = sum(node.gpus for node in nodes)
    lines += ["-" * 63, "Total Usage:", f" 0.0/{float(gpus)} GPU", "", "Total Demands:", " (no resource demands)"]
    return "\n".join(lines)


def write_state(name: str, value: str) -> None:
    """Leave a fact for the other processes of this host."""
    os.makedirs(state_folder(), exist_ok=True)
    with open(os.path.join(state_folder(), name), "w", encoding="utf-8") as stream:
        stream.write(value)


def read_pids() -> list[int]:
    """Return the processes that `ray start` left running here."""
    try:
        with open(os.path.join(state_folder(), "pids.json"), encoding="utf-8") as stream:
            return [int(pid) for pid in json.load(stream)]
    except (OSError, ValueError):
        return []
