# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays one round of requests against one target. An edge; everything else of the client is reached through here."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.in_flight import concurrency, steady
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.lag import Lag, validity
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import Door
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.loads import Closed, Open, Progress
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.loop import Loop
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reading import read
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.shelf import Shelf, part_for
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.supply import Supply
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target, resolve
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.usage import cpu_seconds, rss_mb
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.workers import (
    Line,
    number_for,
    share_of,
    work_apart,
)


@dataclass(frozen=True)
class Played:
    """What a round gave.

    :ivar records: one of each request, in the order of their end
    :ivar began: Unix time of the start
    :ivar clock: the same moment on the monotonic clock
    :ivar seconds: from the start to the end of the last request
    :ivar client: what it cost the client, and how late its stamps are
    :ivar concurrency: mean over time and peak of the requests under way
    :ivar steady: the longest stretch with nearly all users at work
    """

    records: list[dict[str, Any]]
    began: float
    clock: float
    seconds: float
    client: dict[str, Any]
    concurrency: dict[str, Any]
    steady: dict[str, float] | None

    def valid(self, median_itl_ms: float | None, allowed: Mapping[str, float] | None = None) -> tuple[bool, list[str]]:
        """Say whether the client was quick enough for what it measured, and if not, why."""
        return validity(self.client["lag_ms"], median_itl_ms, allowed)


@dataclass(frozen=True)
class _Part:
    """What one process found."""

    records: list[dict[str, Any]]
    began: float
    clock: float
    lag: Lag
    connections: int
    rss_mb: float | None


@dataclass(frozen=True)
class _Wishes:
    """What is to be told, asked and kept while a round is played."""

    on_progress: Progress | None
    over: Callable[[], bool] | None
    keep_text: bool
    on_answer: Callable[[Ask, str], None] | None


def play(
    target: Target,
    load: Mapping[str, Any],
    asks: Iterator[Ask] | Callable[[int], Ask | None],
    limits: Limits,
    *,
    on_progress: Progress | None = None,
    over: Callable[[], bool] | None = None,
    keep_text: bool = False,
    on_answer: Callable[[Ask, str], None] | None = None,
) -> Played:
    """Send requests to a target in the way that ``load`` says, and give a record of each.

    Whatever is wrong with the target is in the records, never an exception. Above 256 users it forks: each process then
    draws all of ``asks`` and sends its share of them, so that they must come out the same in each.

    :param load: ``model`` ``closed`` or ``series`` with ``n``, ``requests``, ``min_s``, or ``open`` with ``requests``
    :param asks: the requests; for an open load each has its ``due``
    :param on_progress: called about once a second with the numbers of requests that are done, under way and (as far
        as it shows without reading them) failed, and the seconds since the start
    :param over: asked now and then; True ends the round, and what is under way is ``aborted``
    :param keep_text: let the records have the answer's ``text``
    :param on_answer: called with a request and the text of its answer (empty when it failed) as soon as that has
        ended. Requests are then not drawn ahead, so that the next turn of a conversation can be made from it. Reading
        holds up the stamps of other streams: it is meant for a few users
    """
    cpu, users = cpu_seconds(), int(load.get("n") or 1)
    wishes = _Wishes(on_progress, over, keep_text, on_answer)
    try:
        address = resolve(target)
        door = Door(target, address)
    except failures.TargetError as fault:
        parts, text = [_unreached(asks, int(load.get("requests") or 1), fault)], ""
    else:
        parts, text = _parts(door, load, asks, limits, wishes), address.text
    records = sorted((record for part in parts for record in part.records), key=lambda record: record["t_end"])
    seconds = records[-1]["t_end"] if records else 0.0
    lag = Lag()
    for part in parts:
        lag.merge(part.lag)
    client = {
        "cpu_s": round(cpu_seconds() - cpu, 4),
        "rss_mb": round(sum(part.rss_mb or 0.0 for part in parts), 1) or None,
        "lag_ms": lag.summary(),
        "address": text,
        "connections": sum(part.connections for part in parts),
    }
    calm = steady(records, users) if load["model"] != "open" else None
    first = parts[0]
    return Played(records, first.began, first.clock, seconds, client, concurrency(records, seconds), calm)


def _parts(
    door: Door,
    load: Mapping[str, Any],
    asks: Iterator[Ask] | Callable[[int], Ask | None],
    limits: Limits,
    wishes: _Wishes,
) -> list[_Part]:
    """Play it in this process, or in several when there are too many users for one."""
    users, requests = int(load.get("n") or 1), int(load.get("requests") or 0)
    number = number_for(users) if load["model"] != "open" and not callable(asks) and wishes.on_answer is None else 1
    if number == 1 or callable(asks):
        return [_loop(door, load, asks, limits, wishes, time.perf_counter)]
    shares = list(zip(share_of(users, number), share_of(requests, number), strict=True))

    def job(line: Line) -> _Part:
        """One worker: its share of the users, and each so manieth of the requests."""
        own = {**load, "n": shares[line.number][0], "requests": shares[line.number][1]}
        told = replace(wishes, on_progress=line.progress, over=line.over)
        part = _loop(door, own, islice(asks, line.number, None, number), limits, told, line.start)
        for record in part.records:
            record["user"] = record["user"] * number + line.number
        return part

    return work_apart(number, job, on_progress=wishes.on_progress, over=wishes.over)


def _loop(
    door: Door,
    load: Mapping[str, Any],
    asks: Iterator[Ask] | Callable[[int], Ask | None],
    limits: Limits,
    wishes: _Wishes,
    start: Callable[[], float],
) -> _Part:
    """Play it in this process; ``start`` gives the moment of the start when all is open."""
    loop = Loop(door, limits)
    on_answer = wishes.on_answer
    supply = Supply(asks, 0 if on_answer else max(int(load.get("n") or 1), 8))
    work = (Open if load["model"] == "open" else Closed)(loop, supply, load)
    work.on_progress, work.over = wishes.on_progress, wishes.over
    if on_answer is None:
        loop.long = part_for(int(load.get("n") or 64))
    else:
        work.on_reply = lambda reply: on_answer(reply.ask, _answer(reply))
    with Shelf() as shelf:
        work.shelf = shelf
        began = _run(loop, work, start)
        records = _records(work.replies, shelf, wishes.keep_text, door.target.key)
    return _Part(records, began, loop.clock, loop.lag, loop.opened, rss_mb())


def _run(loop: Loop, work: Closed | Open, start: Callable[[], float]) -> float:
    """Run the loop until all is done, with the collector of garbage off; give the time of the start."""
    collecting = gc.isenabled()
    try:
        work.prepare()
        # The young ones only: to look at all that a process has ever made takes longer than a short round does.
        gc.collect(1)
        gc.disable()
        loop.clock = start()
        began = time.time()
        work.begin()
        loop.run(work.going)
    finally:
        loop.stop()
        if collecting:
            gc.enable()
    return began


def _unreached(asks: Iterator[Ask] | Callable[[int], Ask | None], requests: int, fault: failures.TargetError) -> _Part:
    """The target has no address, or cannot be trusted: no request can be sent at all."""
    supply, replies = Supply(asks, 0), []
    for _number in range(requests):
        ask = supply.next(0)
        if ask is None:
            break
        replies.append(Reply(ask, 0, 0.0, kind=fault.kind, message=fault.message))
    return _Part(_records(replies, Shelf(), False, ""), time.time(), time.perf_counter(), Lag(), 0, rss_mb())


def _answer(reply: Reply) -> str:
    """The text of an answer; nothing of one that failed."""
    record = read(reply, keep_text=True)
    return "" if record["error"] else str(record["text"])


def _records(replies: list[Reply], shelf: Shelf, keep_text: bool, secret: str) -> list[dict[str, Any]]:
    """Read the replies, and let go of each one's bytes as soon as that is done."""
    records: list[dict[str, Any]] = []
    replies.reverse()
    while replies:
        reply = replies.pop()
        shelf.take(reply)
        records.append(read(reply, keep_text=keep_text, secret=secret, sample=not records))
    return records
