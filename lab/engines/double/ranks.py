# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How ranks meet at the master address and take part in every step, over TCP with one JSON object per line."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import time
from typing import Any

from .core import RankLost
from .log import log

DEFAULT_TIMEOUT = 1800.0  # seconds that a rank waits for the others
RETRY = 0.2
WAIT_LINES = 10.0
#: After so many seconds without an answer a step never recovers, as in a collective whose link was cut.
STALL_SECONDS = float(os.environ.get("DOUBLE_STALL_SECONDS", "5"))


class JoinError(Exception):
    """The ranks cannot become a group; the text is for the log."""


async def send(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    """Send one message."""
    writer.write(json.dumps(message).encode() + b"\n")
    await writer.drain()


async def receive(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """Return the next message, or None at the end of the connection."""
    try:
        line = await reader.readline()
    except (ConnectionError, OSError):
        return None
    try:
        message = json.loads(line) if line else None
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


class Alone:
    """The group of a single rank."""

    async def step(self, more: bool) -> None:
        """Nobody else is needed."""


class Peers:
    """Rank 0's side of a group: a connection to every other rank.

    Nothing is read between steps: as with vLLM, a rank that dies while the engine is idle is noticed at the next
    request.
    """

    def __init__(self, timeout: float | None, stall: float = STALL_SECONDS) -> None:
        self._timeout = timeout
        self._stall = stall
        self._ranks: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._number = 0
        #: It stays open for as long as the engine lives, for ranks that come too late (see gather_ranks).
        self.server: asyncio.Server | None = None

    def add(self, rank: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a rank into the group."""
        self._ranks[rank] = (reader, writer)

    async def welcome(self, world: dict[str, Any]) -> None:
        """Tell every rank that the group is complete."""
        for _reader, writer in self._ranks.values():
            await send(writer, {"welcome": world})

    @property
    def ranks(self) -> set[int]:
        """The ranks that have joined."""
        return set(self._ranks)

    async def step(self, more: bool) -> None:
        """Exchange one message with every rank; hangs for good when one does not answer (see STALL_SECONDS)."""
        self._number += 1
        exchanges = asyncio.gather(*(self._exchange(rank, more) for rank in self._ranks))
        began = time.monotonic()
        patience = self._stall if self._timeout is None else min(self._stall, self._timeout)
        try:
            await asyncio.wait_for(exchanges, patience)
        except asyncio.TimeoutError:
            if self._timeout is None:
                await asyncio.Event().wait()
            else:
                await asyncio.sleep(began + self._timeout - time.monotonic())
            raise RankLost(f"Timed out waiting {self._timeout or 0:.0f}s for recv operation to complete") from None

    async def _exchange(self, rank: int, more: bool) -> None:
        reader, writer = self._ranks[rank]
        try:
            await send(writer, {"step": self._number, "more": more})
        except (ConnectionError, OSError):
            raise RankLost(f"WorkerProc rank=[{rank}] died: Connection closed by peer") from None
        if (await receive(reader) or {}).get("step") != self._number:
            raise RankLost(f"WorkerProc rank=[{rank}] died: Connection closed by peer")


def refusal(hello: dict[str, Any] | None, world: dict[str, Any], joined: set[int]) -> str | None:
    """Return why a rank cannot join, or None. `world` is what all ranks must have in common."""
    if hello is None:
        return "no greeting"
    for key, value in world.items():
        if hello.get(key) != value:
            return f"{key} is {hello.get(key)!r} on rank {hello.get('rank')} and {value!r} on rank 0"
    rank = hello.get("rank")
    if not isinstance(rank, int) or not 0 < rank < world["nnodes"]:
        return f"rank {rank!r} is not between 1 and {world['nnodes'] - 1}"
    return f"rank {rank} has joined already" if rank in joined else None


async def gather_ranks(host: str, port: int, world: dict[str, Any], timeout: float | None) -> Peers:
    """Listen at the master address until every rank has joined; raises JoinError when they do not in time.

    A port that is taken, and an address that is not this host's, are logged and waited out, as by vLLM.
    """
    peers = Peers(timeout)
    complete = asyncio.Event()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = await receive(reader)
        why = refusal(hello, world, peers.ranks)
        if complete.is_set():
            await receive(reader)  # a rank that was restarted alone: it is left waiting until it ends
            writer.close()
            return
        if why:
            log(f"Rank refused: {why}", "parallel_state.py:1", "ERROR")
            await send(writer, {"refused": why})
            writer.close()
            return
        peers.add(hello["rank"], reader, writer)
        log(f"rank={hello['rank']} joined", "parallel_state.py:1")
        if len(peers.ranks) == world["nnodes"] - 1:
            await peers.welcome(world)
            complete.set()

    server = await _listen(greet, host, port)
    patience = DEFAULT_TIMEOUT if timeout is None else timeout
    until = time.monotonic() + patience
    while not complete.is_set():
        left = until - time.monotonic()
        if left <= 0:
            raise JoinError(f"Timed out after {patience:.0f} seconds waiting for clients: {len(peers.ranks)} joined")
        try:
            await asyncio.wait_for(complete.wait(), min(left, WAIT_LINES))
        except asyncio.TimeoutError:
            log(f"Waiting for {world['nnodes'] - 1 - len(peers.ranks)} more ranks", "parallel_state.py:1")
    peers.server = server
    return peers


async def _listen(greet: Any, host: str, port: int) -> asyncio.Server | None:
    try:
        return await asyncio.start_server(greet, host, port)
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "error")
        log(
            f"The server socket has failed to listen on {host}:{port} (errno: {error.errno} - {name})",
            "TCPStore.cpp:1",
            "ERROR",
        )
        return None


async def join(
    host: str, port: int, world: dict[str, Any], rank: int, timeout: float | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect a rank to the master and wait until the group is complete; raises JoinError."""
    patience = DEFAULT_TIMEOUT if timeout is None else timeout
    until = time.monotonic() + patience
    while True:
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(host, port), patience)
            break
        except (OSError, asyncio.TimeoutError) as error:
            hopeless = getattr(error, "errno", None) == errno.ENETUNREACH or isinstance(error, socket.gaierror)
            if hopeless or time.monotonic() > until:
                raise JoinError(
                    f"The client socket has failed to connect to [{host}]:{port} (errno: {error})"
                ) from None
            await asyncio.sleep(RETRY)
    await send(writer, {**world, "rank": rank})
    answer = await receive(reader)
    if answer is None or "welcome" not in answer:
        why = (answer or {}).get("refused", "the connection was closed")
        raise JoinError(f"Rank 0 at {host}:{port} did not accept this rank: {why}")
    return reader, writer


async def follow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: float | None) -> None:
    """Take part in rank 0's steps; returns when rank 0 is gone, after which a rank just stays."""
    more = False
    while True:
        waiting = asyncio.ensure_future(receive(reader))
        if more and timeout is not None:
            done, _pending = await asyncio.wait({waiting}, timeout=timeout)
            if not done:
                log(f"Timed out waiting {timeout:.0f}s for recv operation to complete", "gloo", "ERROR", "Worker")
        message = await waiting
        if message is None:
            return
        more = bool(message.get("more"))
        try:
            await send(writer, {"step": message.get("step")})
        except (ConnectionError, OSError):
            return
