# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Serve a payload, or copy it and serve it on: what the module's process does in the background."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.board import Board
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.check import check
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.crew import Crew
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import File
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.server import CannotListen, Server
from ansible_collections.dgxspark.serving.plugins.module_utils.models import kept
from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size

TICK = 0.2


class Teller(Protocol):
    """What this needs of ``background.work.Progress``."""

    def tell(self, done: int, total: int, text: str = "") -> None: ...
    def finish(self, result: dict[str, Any]) -> None: ...


def serve(order: Order, progress: Teller) -> NoReturn:
    """Be the source: it is done as soon as it answers, and goes on until it is stopped.

    :raises WorkFailed: when a file is missing, or it cannot listen
    """
    missing = [file.path for file in order.payload.files if not order.place.is_there(file)]
    if missing:
        raise WorkFailed(
            f"{order.what} is no longer complete at {order.place.root}: of {len(order.payload.files)} files "
            f"{len(missing)} are missing or changed ({', '.join(missing[:3])}). Run again."
        )
    board = Board(order.payload.entries, 0)
    for file in order.payload.files:
        board.set_whole(file.number)
    server = _server(order, board, receiving=False)
    server.start()
    progress.finish({"changed": False})
    _serve_on(server, progress, 0)


def copy(order: Order, progress: Teller, manifest: Mapping[str, Any] | None) -> dict[str, Any]:
    """Be a target: receive, serve others meanwhile, and afterwards until it is stopped.

    :param manifest: is kept beside the model; None keeps nothing
    :returns: the result, when no host comes after this one
    :raises WorkFailed: when a file cannot be had, or there is no room
    """
    order.place.forget_others()
    problems = check(order)["problems"]
    if problems:
        raise WorkFailed(" ".join(problems))
    board = Board(order.payload.entries, order.streams)
    missing: list[File] = []
    for file in order.payload.files:
        if order.place.is_there(file):
            board.set_whole(file.number)
        else:
            missing.append(file)
    there = order.payload.size - sum(file.size for file in missing)
    server = _server(order, board, receiving=True)
    links = order.place.links_missing()
    _receive(order, board, server, progress, missing, there)
    try:
        order.place.settle()
    except OSError as error:
        raise WorkFailed(f"{error.filename2 or error.filename} cannot be put in place: {error.strerror}.") from error
    note = kept.write(order.place.root, manifest, kept.seen(order.place.root, manifest["entries"])) if manifest else ""
    server.receiving = False
    result = {
        "changed": bool(missing or links),
        "kept": there,
        "received": board.brought,
        "files": [file.path for file in missing],
        "notes": [note] if note else [],
    }
    if order.listen:
        progress.finish(result)
        _serve_on(server, progress, order.payload.size)
    return result


def _server(order: Order, board: Board, receiving: bool) -> Server:
    try:
        return Server(order, board, receiving)
    except CannotListen as error:
        raise WorkFailed(str(error)) from error


def _receive(order: Order, board: Board, server: Server, progress: Teller, missing: list[File], there: int) -> None:
    """Receive what is missing.

    :raises WorkFailed: when a file cannot be had
    """
    crew = Crew(order, board, missing, server.close)
    server.start()
    total = order.payload.size
    while crew.runs():
        server.idle()
        progress.tell(there + board.brought, total)
        time.sleep(TICK)
    progress.tell(there + board.brought, total)
    lacking = [file.path for file in missing if not board.is_whole(file.number)]
    if lacking:
        raise WorkFailed(" ".join(crew.failures()) or f"{', '.join(lacking[:3])} did not arrive. Run again.")


def _serve_on(server: Server, progress: Teller, total: int) -> NoReturn:
    """Give to others until this process is ended."""
    while True:
        progress.tell(server.sent, total, f"{size(server.sent)} sent")
        time.sleep(TICK)
