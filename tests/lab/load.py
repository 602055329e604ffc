# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A steady load of clients, each of which asks again as soon as it has its answer, and what became of every request.

The clients keep their connections and never try a request again: what a gateway loses is seen.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SILENCE = 120.0  # seconds without a byte, after which a request has failed
PAUSE_AFTER_FAILURE = 0.05  # seconds: a closed port must not be asked a thousand times a second


@dataclass(frozen=True)
class Done:
    """One request; times are of time.monotonic().

    :ivar first: when its first token came; None without one, and where the answer was not streamed
    :ivar error: why it failed; empty when all of its tokens came
    """

    began: float
    ended: float
    first: float | None
    error: str


@dataclass(frozen=True)
class Counts:
    """What an event did to the requests at work and to those after it.

    :ivar streams_lost: streams that broke in the middle, where the gateway had passed on tokens and can do nothing
    :ivar failed: all other failures
    :ivar until_none_fails: seconds from the event to the end of the last failure of either kind; 0 without one
    """

    asked: int
    failed: int
    streams_lost: int
    until_none_fails: float


def counts(done: Sequence[Done], at: float, over: float) -> Counts:
    """Count what an event did.

    :param at: when it began
    :param over: when the gateway had to have got over it: a request that began later must not fail in any way
    """
    after = [one for one in done if one.ended >= at]
    failed = [one for one in after if one.error]
    lost = [one for one in failed if one.first is not None and one.began < over]
    return Counts(
        asked=len(after),
        failed=len(failed) - len(lost),
        streams_lost=len(lost),
        until_none_fails=max((one.ended - at for one in failed), default=0.0),
    )


@dataclass(frozen=True)
class Target:
    """Where to ask, and for what."""

    address: str
    port: int
    model: str
    key: str = ""
    tokens: int = 24

    def ask(self, connection: http.client.HTTPConnection, stream: bool, on_first: Callable[[], None]) -> str:
        """Ask for one completion and read it to its end; return why it failed, or nothing.

        Raises OSError, http.client.HTTPException or ValueError for a connection that ends, or for what is no answer.
        """
        body = {
            "model": self.model,
            "prompt": "say something",
            "max_tokens": self.tokens,
            "ignore_eos": True,
            "stream": stream,
        }
        headers = {"content-type": "application/json"}
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        connection.request("POST", "/v1/completions", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != 200:
            return f"{response.status}: {response.read().decode(errors='replace')[:300]}"
        if stream:
            return read_stream(response, on_first)
        made = json.loads(response.read())["usage"]["completion_tokens"]
        return "" if made == self.tokens else f"{made} of {self.tokens} tokens"


def read_stream(response: http.client.HTTPResponse, on_first: Callable[[], None]) -> str:
    """Read a stream to its end; return why it failed, or nothing."""
    whole, error = False, ""
    for line in response:
        data = line.removeprefix(b"data: ").strip()
        if data == b"[DONE]":
            whole = True
        elif data:
            on_first()
            # Engines send an error with status 200 once a stream has begun.
            error = error or (data.decode(errors="replace")[:300] if "error" in json.loads(data) else "")
    response.read()  # http.client sees the end of a body of known length only then
    return error or ("" if whole else "the stream ended without [DONE]")


class Load:
    """Clients at work between `with` and its end; each finishes its last request."""

    def __init__(self, target: Target, clients: int) -> None:
        """Every other client streams."""
        self.done: list[Done] = []
        self._target = target
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(index % 2 == 0,)) for index in range(clients)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait(self, requests: int, seconds: float = SILENCE) -> None:
        """Wait until so many more requests have ended well; raises TimeoutError."""
        until = time.monotonic() + seconds
        wanted = self._well() + requests
        while self._well() < wanted:
            if time.monotonic() > until:
                raise TimeoutError(f"{requests} requests did not end well in {seconds:.0f} s: {self.done[-3:]}")
            time.sleep(0.05)

    def _well(self) -> int:
        return sum(not one.error for one in self.done)

    def _work(self, stream: bool) -> None:
        """Be one client."""
        connection = http.client.HTTPConnection(self._target.address, self._target.port, timeout=SILENCE)
        while not self._stop.is_set():
            arrivals: list[float] = []
            began = time.monotonic()
            try:
                error = self._target.ask(connection, stream, lambda: arrivals.append(time.monotonic()))  # noqa: B023
            except (OSError, http.client.HTTPException, ValueError) as problem:
                error = f"{type(problem).__name__}: {problem}"
            self.done.append(Done(began, time.monotonic(), arrivals[0] if arrivals else None, error))
            if error:
                connection.close()  # the next request begins on a new one
                time.sleep(PAUSE_AFTER_FAILURE)
        connection.close()
