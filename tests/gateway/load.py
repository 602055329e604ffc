# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients in a closed loop while something happens to the gateway."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tests.gateway.clients import Answer, Client


class Load:
    """So many clients, each on one connection that it keeps: every second one streams.

    :ivar answers: (when it was asked for, answer)
    """

    def __init__(self, client: Client, clients: int = 8, **fields: Any) -> None:
        """Prepare; `fields` go into each request."""
        self.answers: list[tuple[float, Answer]] = []
        self._client, self._fields = client, fields
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(bool(number % 2),)) for number in range(clients)]

    def _ask(self, stream: bool) -> None:
        connection = self._client.connect()
        while not self._stopping.is_set():
            begun = time.monotonic()
            answer = self._client.chat(stream=stream, on=connection, **self._fields)
            self.answers.append((begun, answer))
            if answer.broken:
                connection = self._client.connect()
        connection.close()

    def __enter__(self) -> Load:
        """Begin."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End after the requests that run."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def failed(self, since: float = 0.0) -> list[Answer]:
        """Return what went wrong of the requests that began at this time or later."""
        return [answer for begun, answer in self.answers if begun >= since and (answer.status != 200 or answer.broken)]


def at_once(number: int, ask: Callable[[int], Answer]) -> list[Answer]:
    """Ask so many times at the same moment."""
    answers: list[Answer | None] = [None] * number
    start = threading.Barrier(number)

    def one(place: int) -> None:
        start.wait()
        answers[place] = ask(place)

    threads = [threading.Thread(target=one, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answer for answer in answers if answer]
