# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mock engine that knows when each token leaves: one thread on bare sockets, for it shares two cores with the rest.

`python -m benchmarks.gateway.engine PORT` listens on loopback. It has a number of slots with one queue before them, as
vLLM has; PUT /settings changes what is in SETTINGS, GET /stats tells what happened. Times are seconds; those in the
stats are of CLOCK_MONOTONIC, which all processes of a machine share. SIGTERM ends running streams at once, like vLLM.
"""

from __future__ import annotations

import argparse
import collections
import heapq
import itertools
import json
import select
import signal
import socket
import time
from collections.abc import Mapping
from typing import Any

MODEL = "mock"
# Until the first token, between two tokens; how many generate at once; idle connections close after keep_alive (0: no);
# fails: generations end as an error 500.
SETTINGS: Mapping[str, float] = {"ttft": 0.1, "itl": 0.02, "slots": 256, "keep_alive": 0, "fails": 0}
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
FAILURE = b'{"error":{"message":"mock failure","type":"InternalServerError","param":null,"code":500}}'


def chunk(event: bytes) -> bytes:
    """One server-sent event as one chunk of the body."""
    text = b"data: " + event + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(text), text)


def choice(delta: str, finish: str) -> bytes:
    return (
        f'{{"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1700000000,"model":"{MODEL}",'
        f'"choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}]}}'
    ).encode()


FIRST = chunk(choice('{"role":"assistant","content":"tok "}', "null"))
# Not all the same: LiteLLM takes a hundred equal chunks in a row for a model that has lost its mind.
NEXT = [chunk(choice(f'{{"content":"{word} "}}', "null")) for word in ("tok", "tik", "tak")]
LAST = chunk(choice("{}", '"length"')) + chunk(b"[DONE]") + b"0\r\n\r\n"


class Connection:
    """One connection, what came and has not been read yet, what has not been taken yet, and its generation."""

    def __init__(self, sock: socket.socket, now: float) -> None:
        self.sock = sock
        self.job: Job | None = None
        self.came, self.unsent, self.idle_since = b"", b"", now


class Job:
    """One generation."""

    def __init__(self, connection: Connection, tokens: int, stream: bool) -> None:
        self.connection, self.tokens, self.stream = connection, tokens, stream
        self.sent, self.over, self.running = 0, False, False


class Engine:
    """Everything the engine holds."""

    def __init__(self, port: int) -> None:
        self.settings = dict(SETTINGS)
        self.epoll = select.epoll()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.listener.setblocking(False)
        self.epoll.register(self.listener, select.EPOLLIN)
        self.connections: dict[int, Connection] = {}
        self.due: list[tuple[float, int, Job]] = []
        self.count = itertools.count()
        self.waiting: collections.deque[Job] = collections.deque()
        self.running = 0
        self.told_to_stop = False
        self.stats: dict[str, Any] = {"generations": 0, "aborted": [], "peak": 0}
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, _number: int, _frame: object) -> None:
        self.told_to_stop = True

    def run(self) -> None:
        """Serve until SIGTERM; then end the streams and go."""
        next_look = 0.0
        while not self.told_to_stop:
            wait = min(self.due[0][0] - time.monotonic(), 0.2) if self.due else 0.2
            if wait > 0:
                # epoll_wait counts in whole milliseconds, select in microseconds.
                select.select([self.epoll], [], [], wait)
            for number, event in self.epoll.poll(0):
                self.handle(number, event)
            now = time.monotonic()
            while self.due and self.due[0][0] <= now:
                at, _number, job = heapq.heappop(self.due)
                if not job.over:
                    self.step(job, at)
            if now >= next_look:
                next_look = now + 0.02
                self.close_idle(now)
        self.listener.close()
        for connection in list(self.connections.values()):
            self.close(connection)

    def handle(self, number: int, event: int) -> None:
        if number == self.listener.fileno():
            sock, _address = self.listener.accept()
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections[sock.fileno()] = Connection(sock, time.monotonic())
            self.epoll.register(sock, select.EPOLLIN)
            return
        connection = self.connections.get(number)
        if connection is None:
            return
        if event & select.EPOLLOUT:
            self.epoll.modify(number, select.EPOLLIN)
            self.send(connection, b"")
        if event & ~select.EPOLLOUT:
            try:
                data = connection.sock.recv(1 << 18)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.close(connection)
                return
            connection.came += data
            self.read(connection)

    def close(self, connection: Connection) -> None:
        """Forget a connection; a generation of it is aborted, and the next one gets its slot."""
        self.connections.pop(connection.sock.fileno(), None)
        connection.sock.close()
        if connection.job:
            self.stats["aborted"].append(time.monotonic())
            self.finish(connection.job)

    def close_idle(self, now: float) -> None:
        limit = self.settings["keep_alive"]
        for connection in list(self.connections.values()) if limit else ():
            if connection.job is None and now - connection.idle_since >= limit:
                self.close(connection)

    def send(self, connection: Connection, data: bytes) -> None:
        data = connection.unsent + data
        try:
            sent = connection.sock.send(data) if data else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self.close(connection)
            return
        connection.unsent = data[sent:]
        if connection.unsent:
            self.epoll.modify(connection.sock, select.EPOLLIN | select.EPOLLOUT)

    def answer(self, connection: Connection, body: bytes, status: bytes = b"200 OK") -> None:
        connection.idle_since = time.monotonic()
        head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (status, len(body))
        self.send(connection, head + body)

    def read(self, connection: Connection) -> None:
        head, found, rest = connection.came.partition(b"\r\n\r\n")
        if not found or connection.job:
            return
        length = 0
        for line in head.lower().split(b"\r\n")[1:]:
            if line.startswith(b"content-length:"):
                length = int(line[15:])
        if len(rest) < length:
            return
        connection.came = rest[length:]
        connection.idle_since = time.monotonic()
        verb, path, version = head.split(b"\r\n", 1)[0].split(b" ")
        self.route(connection, verb, path.partition(b"?")[0], rest[:length])
        if version == b"HTTP/1.0":
            self.close(connection)

    def route(self, connection: Connection, verb: bytes, path: bytes, body: bytes) -> None:
        if verb == b"POST" and path.endswith(b"/completions"):
            self.stats["generations"] += 1
            if self.settings["fails"]:
                self.answer(connection, FAILURE, b"500 Internal Server Error")
                return
            wish = json.loads(body)
            job = Job(connection, int(wish.get("max_tokens") or 16), bool(wish.get("stream")))
            connection.job = job
            if job.stream:
                self.send(connection, STREAM_HEAD)
            self.waiting.append(job)
            self.fill_slots()
        elif verb == b"PUT" and path == b"/settings":
            self.settings.update(json.loads(body))
            self.stats.update(generations=0, aborted=[], peak=0)
            self.answer(connection, b"{}")
        elif path == b"/stats":
            self.answer(connection, json.dumps({**self.stats, "running": self.running}).encode())
        elif path == b"/metrics":
            self.answer(
                connection,
                b"vllm:num_requests_running %d\nvllm:num_requests_waiting %d\n" % (self.running, len(self.waiting)),
            )
        elif path == b"/v1/models":
            self.answer(connection, b'{"object":"list","data":[{"id":"%s","object":"model"}]}' % MODEL.encode())
        else:
            known = path == b"/health"
            self.answer(connection, b"" if known else b"{}", b"200 OK" if known else b"404 Not Found")

    def fill_slots(self) -> None:
        while self.waiting and self.running < self.settings["slots"]:
            job = self.waiting.popleft()
            if not job.over:
                job.running = True
                self.running += 1
                self.stats["peak"] = max(self.stats["peak"], self.running)
                self.schedule(job, time.monotonic() + self.settings["ttft"])

    def schedule(self, job: Job, at: float) -> None:
        heapq.heappush(self.due, (at, next(self.count), job))

    def step(self, job: Job, at: float) -> None:
        """One token; the next one is due an interval after this one was, however late this one leaves."""
        job.sent += 1
        last = job.sent >= job.tokens
        if job.stream:
            self.send(job.connection, (FIRST if job.sent == 1 else NEXT[job.sent % 3]) + (LAST if last else b""))
        elif last:
            usage = {"prompt_tokens": 8, "completion_tokens": job.tokens, "total_tokens": 8 + job.tokens}
            message = {"role": "assistant", "content": "tok " * job.tokens}
            answer = {"id": "chatcmpl-mock", "object": "chat.completion", "created": 1700000000, "model": MODEL}
            answer |= {"choices": [{"index": 0, "message": message, "finish_reason": "length"}], "usage": usage}
            self.answer(job.connection, json.dumps(answer).encode())
        if job.over:
            return
        if last:
            connection = job.connection
            connection.idle_since = time.monotonic()
            self.finish(job)
            self.read(connection)
        else:
            self.schedule(job, at + self.settings["itl"])

    def finish(self, job: Job) -> None:
        job.over, job.connection.job = True, None
        if job.running:
            self.running -= 1
        self.fill_slots()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    Engine(parser.parse_args().port).run()


if __name__ == "__main__":
    main()
