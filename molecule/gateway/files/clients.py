# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients of a gateway, and what they see, as JSON: `clients.py ADDRESS PORT stream|refusals|burst|steady|one`.

The environment has GATEWAY_KEY, and OTHER_KEY for `refusals`. The gateway's certificate is taken as it comes, and must
then be good for the address.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import Any

MODEL = "tiny-qwen3"
TOKENS = 16
#: Arrivals that are closer together are one: 16 tokens are made at intervals of 50 ms.
ONE_ARRIVAL = 0.005
TIMEOUT = 120.0
LARGE = 3 << 20
KEY = {"authorization": f"Bearer {os.environ.get('GATEWAY_KEY', '')}"}


class Gateway:
    """One gateway, by TLS."""

    def __init__(self, address: str, port: int) -> None:
        self._address, self._port = address, port
        self._tls = ssl.create_default_context(cadata=ssl.get_server_certificate((address, port)))

    def send(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """Send a request on a connection of its own and return the response, with its body unread."""
        connection = http.client.HTTPSConnection(self._address, self._port, timeout=TIMEOUT, context=self._tls)
        data = json.dumps(body) if body else None
        # Who refuses a large body does not read it to its end, and has answered by then.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, data, {"content-type": "application/json", **(headers or {})})
        return connection.getresponse()

    def refusal(self, method: str, path: str, body: dict[str, Any] | None = None, **headers: str) -> list[Any]:
        """Return status and, where the body is an error of this kind, its code or type."""
        response = self.send(method, path, body, headers)
        text = response.read().decode()
        error = json.loads(text).get("error") or {}
        return [response.status, error.get("code") or error.get("type"), error.get("message", "")]


def wish(**more: object) -> dict[str, Any]:
    """Return the body of a chat."""
    messages = [{"role": "user", "content": "Hello"}]
    return {"model": MODEL, "messages": messages, "max_tokens": TOKENS, "ignore_eos": True, **more}


def stream(gateway: Gateway) -> dict[str, Any]:
    """Stream one answer; say how many tokens came, at how many different moments, and over how much of the time."""
    began = time.monotonic()
    response = gateway.send("POST", "/v1/chat/completions", wish(stream=True), KEY)
    arrivals: list[float] = []
    whole = False
    for line in response:
        data = line.removeprefix(b"data: ").strip()
        whole = whole or data == b"[DONE]"
        choices = json.loads(data).get("choices") if data.startswith(b"{") else None
        if choices and choices[0]["delta"].get("content"):
            arrivals.append(time.monotonic())
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    return {
        "status": response.status,
        "tokens": len(arrivals),
        "moments": 1 + sum(gap > ONE_ARRIVAL for gap in gaps),
        "spread": sum(gaps) / (time.monotonic() - began),
        "whole": whole,
    }


def refusals(gateway: Gateway) -> dict[str, Any]:
    """Ask for what is refused, and for the list of models."""
    other = {"authorization": f"Bearer {os.environ['OTHER_KEY']}"}
    models = gateway.send("GET", "/v1/models", headers=KEY)
    return {
        "models": [entry["id"] for entry in json.loads(models.read())["data"]],
        "no key": gateway.refusal("POST", "/v1/chat/completions", wish()),
        "wrong key": gateway.refusal("POST", "/v1/chat/completions", wish(), authorization="Bearer sk-of-nobody"),
        "other key": gateway.refusal("GET", "/v1/models", **other)[0],
        "metrics": gateway.refusal("GET", "/metrics", **KEY),
        "tokenize": gateway.refusal("POST", "/tokenize", {"model": MODEL, "prompt": "Hello"}, **KEY),
        "unknown model": gateway.refusal("POST", "/v1/chat/completions", wish(model="gpt-unknown"), **KEY),
        "large body": gateway.refusal("POST", "/v1/chat/completions", wish(user="x" * LARGE), **KEY),
    }


def ask(gateway: Gateway, streamed: bool) -> tuple[int, bool, str]:
    """Ask once; return the status, whether the answer is whole, and Retry-After. Status 0: none came."""
    try:
        response = gateway.send("POST", "/v1/chat/completions", wish(stream=streamed), KEY)
    except (OSError, http.client.HTTPException):
        return 0, False, ""
    try:
        text = response.read().decode()
    except (OSError, http.client.HTTPException):
        return response.status, False, ""
    whole = "[DONE]" in text and '"error"' not in text if streamed else '"choices"' in text
    return response.status, whole, response.headers.get("retry-after") or ""


def several(gateway: Gateway, clients: int, times: int) -> dict[str, Any]:
    """Ask with several clients at once, each so many times, every other one for streams; count what came of it."""

    def one(index: int) -> list[tuple[int, bool, str]]:
        return [ask(gateway, index % 2 == 0) for _time in range(times)]

    with ThreadPoolExecutor(max_workers=clients) as pool:
        answers = [answer for answers in pool.map(one, range(clients)) for answer in answers]
    found = [status for status, _whole, _retry in answers]
    return {
        "answers": {str(status): found.count(status) for status in sorted(set(found))},
        "whole": sum(whole for status, whole, _retry in answers if status == 200),
        "retry_after": all(retry for status, _whole, retry in answers if status == 429),
    }


def burst(gateway: Gateway) -> dict[str, Any]:
    """Ask with more clients than the replicas and the queue have room for."""
    return several(gateway, 16, 1)


def steady(gateway: Gateway) -> dict[str, Any]:
    """Ask for some seconds with as many clients as one replica has room for."""
    return several(gateway, 4, 8)


def one(gateway: Gateway) -> list[Any]:
    """Ask once and return status, code and message of the refusal."""
    return gateway.refusal("POST", "/v1/chat/completions", wish(), **KEY)


if __name__ == "__main__":
    LOOKS = {"stream": stream, "refusals": refusals, "burst": burst, "steady": steady, "one": one}
    print(json.dumps(LOOKS[sys.argv[3]](Gateway(sys.argv[1], int(sys.argv[2])))))
