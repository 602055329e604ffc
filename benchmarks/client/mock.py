# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine that knows the truth: when each request arrived and when each token left, and faults on demand.

`python -m benchmarks.client.mock PORT` listens on loopback. It is the one of benchmarks/gateway with other streams:
PUT /settings with `fault` (one of dialect.FAULTS) changes them and forgets, GET /truth tells what was sent, in seconds
of CLOCK_MONOTONIC. Requests are taken from the kernel and stamped after every token, so that a burst does not count
the reading of its first requests as time of its last ones.
"""

from __future__ import annotations

import argparse
import collections
import heapq
import json
import select
import time
import zlib
from typing import Any

from benchmarks.client.dialect import BROKEN_AFTER, Dialect
from benchmarks.gateway.engine import FAILURE, STREAM_HEAD, Connection, Engine, Job
from lab.engines.tiny_model import WORDS as WORDS_OF_MODEL

PIECE = 1 << 18
# Between the two halves of an event that is cut inside a character.
HALF_SECONDS = 0.001
# llama-benchy takes its prompts from a book.
BOOK = (" ".join(WORDS_OF_MODEL) + ". ").encode() * 200


def tokenize(text: str) -> list[int]:
    """A token for each word, and back: vllm-rs makes its prompts with the server's tokenizer."""
    return [zlib.crc32(word.encode()) % len(WORDS_OF_MODEL) for word in text.split()]


def detokenize(tokens: list[int]) -> str:
    return " ".join(WORDS_OF_MODEL[token % len(WORDS_OF_MODEL)] for token in tokens)


class Generation(Job):
    """A generation, and when its parts left."""

    def __init__(self, connection: Connection, wish: dict[str, Any], dialect: Dialect, arrived: float) -> None:
        tokens = int(wish.get("max_completion_tokens") or wish.get("max_tokens") or 16)
        super().__init__(connection, dialect.length(tokens), bool(wish.get("stream")))
        self.dialect, self.arrived = dialect, arrived
        options = wish.get("stream_options") or {}
        self.usage = bool(options.get("include_usage"))
        self.continuous = bool(options.get("continuous_usage_stats"))
        self.sends: list[float] = []
        self.rest = b""
        self.whole = False

    def truth(self) -> dict[str, Any]:
        return {
            "arrived": self.arrived,
            "sends": self.sends,
            "tokens": self.sent,
            # Nobody can know how many tokens the first chunk had who did not ask: by definition it is one.
            "first": min(self.dialect.per_chunk, self.sent) if self.continuous else 1,
            "whole": self.whole,
        }


class TruthEngine(Engine):
    """The engine with its memory."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.settings["slots"] = 1 << 20
        self.fault = "base"
        self.unread: collections.deque[tuple[Connection, float]] = collections.deque()
        self.generations: list[Generation] = []
        self.refused = 0
        self.arrived = 0.0

    def run(self) -> None:
        """Serve until SIGTERM."""
        while not self.told_to_stop:
            wait = min(self.due[0][0] - time.monotonic(), 0.2) if self.due else 0.2
            if wait > 0 and not self.unread:
                # epoll_wait counts in whole milliseconds, select in microseconds.
                select.select([self.epoll], [], [], wait)
            self.take()
            while self.unread:
                connection, self.arrived = self.unread.popleft()
                self.read(connection)
                self.take()
            while self.due and self.due[0][0] <= time.monotonic():
                at, _number, job = heapq.heappop(self.due)
                if not job.over:
                    self.step(job, at)
                self.take()

    def take(self) -> None:
        """Take what came from the kernel, with the time; nothing is read yet."""
        for number, event in self.epoll.poll(0):
            connection = self.connections.get(number)
            if connection is None or event & ~select.EPOLLIN:
                self.handle(number, event)
                continue
            now = time.monotonic()
            try:
                data = connection.sock.recv(PIECE)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if data:
                connection.came += data
                self.unread.append((connection, now))
            else:
                self.close(connection)

    def route(self, connection: Connection, verb: bytes, path: bytes, body: bytes) -> None:
        if verb == b"POST" and path.endswith(b"/completions"):
            self.begin(connection, json.loads(body), chat=b"chat" in path)
        elif verb == b"PUT" and path == b"/settings":
            self.fault = json.loads(body).get("fault", "base")
            self.generations, self.refused = [], 0
            super().route(connection, verb, path, body)
        elif path == b"/truth":
            found = {"generations": [each.truth() for each in self.generations], "refused": self.refused}
            self.answer(connection, json.dumps(found).encode())
        elif path == b"/book.txt":
            self.answer(connection, BOOK)
        elif verb == b"POST" and path == b"/tokenize":
            tokens = tokenize(str(json.loads(body).get("prompt", "")))
            self.answer(
                connection, json.dumps({"count": len(tokens), "max_model_len": 4096, "tokens": tokens}).encode()
            )
        elif verb == b"POST" and path == b"/detokenize":
            self.answer(connection, json.dumps({"prompt": detokenize(json.loads(body)["tokens"])}).encode())
        else:
            super().route(connection, verb, path, body)

    def begin(self, connection: Connection, wish: dict[str, Any], *, chat: bool) -> None:
        self.stats["generations"] += 1
        if self.fault == "http500" and self.stats["generations"] % 2 == 0:
            self.refused += 1
            self.answer(connection, FAILURE, b"500 Internal Server Error")
            return
        job = Generation(connection, wish, Dialect.of(self.fault, chat=chat), self.arrived)
        connection.job = job
        job.running = True
        self.running += 1
        self.generations.append(job)
        if job.stream:
            self.send(connection, STREAM_HEAD + job.dialect.opening)
        self.schedule(job, job.arrived + self.settings["ttft"])

    def step(self, job: Job, at: float) -> None:
        """One event, due an interval after the one before was, however late this one leaves."""
        if not isinstance(job, Generation) or not job.stream:
            if isinstance(job, Generation) and job.sent + 1 >= job.tokens:
                job.sends.append(time.monotonic())
                job.whole = True
            super().step(job, at)
            return
        if not job.rest:
            job.sent = min(job.sent + job.dialect.per_chunk, job.tokens)
            data = job.dialect.event(job.sent, usage=job.continuous)
            cut = job.dialect.cut(data)
            if cut:
                job.rest = data[cut:]
                self.send(job.connection, data[:cut])
                self.schedule(job, at + HALF_SECONDS)
                return
        else:
            data, job.rest, at = job.rest, b"", at - HALF_SECONDS
        broken = job.dialect.breaks and job.sent >= BROKEN_AFTER
        last = job.sent >= job.tokens
        if last and not broken:
            data += job.dialect.ending(job.sent, usage=job.usage)
        elif broken:
            data += job.dialect.breaking
        job.sends.append(time.monotonic())
        self.send(job.connection, data)
        if job.over:
            return
        if broken and not job.dialect.breaking:
            self.close(job.connection)
        elif broken or last:
            job.whole = last
            connection = job.connection
            connection.idle_since = time.monotonic()
            self.finish(job)
            self.read(connection)
        else:
            self.schedule(job, at + self.settings["itl"] * job.dialect.per_chunk)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    TruthEngine(parser.parse_args().port).run()


if __name__ == "__main__":
    main()
