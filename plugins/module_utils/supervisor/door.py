# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The door: a small TCP server at which gateways ask whether a replica is ready. An edge.

It tells and changes nothing, so whoever reaches the control network may ask. Nothing that a stranger sends ends it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable

from .door_request import Asked, parse
from .engine import why
from .said import say

# Connections at once; more are closed.
MOST_CONNECTIONS = 64
# Seconds that a connection may last.
PATIENCE = 5.0
# Seconds between two tries to listen.
AGAIN = 5.0
# Names the open door's descriptor to the program that takes over in the same process.
HANDED_ON = "DGXSPARK_SERVING_DOOR"


class Door:
    """:param answer: gives the bytes that answer a question from an address
    :param changed: called when the door opens or cannot be opened
    :ivar error: why it is not open; empty when it is
    """

    def __init__(
        self, address: str, port: int, answer: Callable[[Asked, str], bytes], changed: Callable[[], None]
    ) -> None:
        self._place = (address, port)
        self._answer, self._changed = answer, changed
        self._listener: socket.socket | None = None
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self.error = ""

    def begin(self) -> None:
        threading.Thread(target=self._keep_open, name="door", daemon=True).start()

    def hand_on(self) -> None:
        """Keep the door open over an exec: who asks meanwhile is answered by the program that takes over."""
        listener = self._listener
        if listener is not None:
            listener.set_inheritable(True)
            os.environ[HANDED_ON] = str(listener.fileno())

    def _keep_open(self) -> None:
        while True:
            try:
                with handed_on(self._place) or self._open() as self._listener:
                    self._told("")
                    self._welcome(self._listener)
            except OSError as error:
                self._told(f"TCP {self._place[0]}:{self._place[1]} cannot be used for health checks: {why(error)}")
            time.sleep(AGAIN)

    def _open(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._place[0] else socket.AF_INET
        return socket.create_server(self._place, family=family, backlog=MOST_CONNECTIONS)

    def _told(self, error: str) -> None:
        if error and error != self.error:
            say(error)
        if error != self.error:
            self.error = error
            self._changed()

    def _welcome(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, sender = listener.accept()
            except OSError:
                # Who asked has given up, or there is no room for a connection.
                time.sleep(0.1)
                continue
            if not self._room.acquire(blocking=False):
                connection.close()
                continue
            try:
                threading.Thread(target=self._serve, args=(connection, sender[0]), name="asked", daemon=True).start()
            except RuntimeError:
                # The host has no room for a thread; the gateway asks again.
                self._room.release()
                connection.close()

    def _serve(self, connection: socket.socket, address: str) -> None:
        try:
            # A gateway that is gone is none of the door's matters.
            with connection, contextlib.suppress(OSError):
                asked = self._hear(connection)
                if asked is not None:
                    connection.settimeout(PATIENCE)
                    connection.sendall(self._answer(asked, address))
                    connection.shutdown(socket.SHUT_WR)
        finally:
            self._room.release()

    def _hear(self, connection: socket.socket) -> Asked | None:
        """The question, or None when none comes in time."""
        until = time.monotonic() + PATIENCE
        data = b""
        while (asked := parse(data)) is None:
            left = until - time.monotonic()
            if left <= 0:
                return None
            connection.settimeout(left)
            part = connection.recv(4096)
            if not part:
                return None
            data += part
        return asked


def handed_on(place: tuple[str, int]) -> socket.socket | None:
    """The door that the program before left open; None when there is none, or one at another place."""
    number = os.environ.pop(HANDED_ON, "")
    if not number:
        return None
    try:
        listener = socket.socket(fileno=int(number))
    except (OSError, ValueError):
        return None
    listener.set_inheritable(False)
    if listener.getsockname()[:2] == place:
        return listener
    listener.close()
    return None
