# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of the gateway that says what came when."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

CHAT = "/v1/chat/completions"


@dataclass
class Answer:
    """What came back.

    :ivar arrivals: seconds from the request to each line of a stream with data
    :ivar broken: the answer ended before its end
    """

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float
    arrivals: list[float] = field(default_factory=list)
    broken: bool = False

    @property
    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)

    @property
    def message(self) -> str:
        """Return the message of an error in OpenAI's shape."""
        text: str = self.json["error"]["message"]
        return text

    @property
    def engine(self) -> str:
        """Return the name of the mock engine that answered without a stream."""
        answer = self.json
        name: str = answer["engine"] if "engine" in answer else answer["choices"][0]["message"]["content"]
        return name


class Client:
    """Sends requests with a key, each on a connection of its own unless one is given."""

    def __init__(self, url: str, key: str = "", model: str = "tiny-chat", timeout: float = 30.0) -> None:
        """Prepare for a gateway's URL; `timeout` in seconds."""
        self.url, self.key, self.model, self.timeout = urlsplit(url), key, model, timeout

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection that can be used several times."""
        host, port = self.url.hostname or "", self.url.port
        if self.url.scheme == "https":
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=context)
        return http.client.HTTPConnection(host, port, timeout=self.timeout)

    def headers(self, **more: str) -> dict[str, str]:
        """Return the headers of a request with JSON."""
        key = {"authorization": f"Bearer {self.key}"} if self.key else {}
        return {
            "content-type": "application/json",
            **key,
            **{name.replace("_", "-"): text for name, text in more.items()},
        }

    def body(self, *, stream: bool = False, **fields: Any) -> bytes:
        """Return a chat request, its model last as OpenAI's Python client writes it."""
        wish = {"messages": [{"role": "user", "content": "hi"}], "stream": stream, **fields}
        return json.dumps({**wish, "model": fields.get("model", self.model)}).encode()

    def chat(self, *, stream: bool = False, on: http.client.HTTPConnection | None = None, **fields: Any) -> Answer:
        """Send one chat request."""
        return self.send("POST", CHAT, self.body(stream=stream, **fields), on=on)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: dict[str, str] | None = None,
        on: http.client.HTTPConnection | None = None,
    ) -> Answer:
        """Send a request and read its answer; what breaks before the status line has status 0."""
        connection = on or self.connect()
        begun = time.monotonic()
        try:
            connection.request(method, path, body, self.headers() if headers is None else headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return Answer(0, {}, repr(error).encode(), time.monotonic() - begun, broken=True)
        answer = Answer(response.status, {key.lower(): value for key, value in response.getheaders()}, b"", 0.0)
        try:
            while line := response.readline():
                answer.body += line
                if line.startswith(b"data:"):
                    answer.arrivals.append(time.monotonic() - begun)
            response.close()  # of an answer with a length, readline does not see the end
        except (OSError, http.client.HTTPException):
            answer.broken = True
        # Else the connection takes no next request: readline leaves a body of known length open at its end.
        response.close()
        answer.seconds = time.monotonic() - begun
        if "event-stream" in answer.headers.get("content-type", "") and b"[DONE]" not in answer.body:
            answer.broken = True
        if on is None or answer.broken:
            connection.close()
        return answer
