# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the mock engine, plays rounds against it, and knows what it really sent."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import body_of, path_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played, play
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.simple import ask_once
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Limits(connect_s=5.0, ttft_s=10.0, idle_s=10.0, total_s=20.0)


class Mock:
    """A mock engine that runs.

    :ivar target: where and how it is reached
    """

    def __init__(self, port: int, key: str = "", scheme: str = "http", host: str = "127.0.0.1") -> None:
        self.port, self.key = port, key
        self.url = f"{scheme}://{host}:{port}"
        self.target = Target("mock", self.url, key=key, verify_tls=False)

    def reset(self) -> None:
        """Empty its book."""
        ask_once(self.target, "POST", "/mock/reset")

    def book(self) -> dict[str, Any]:
        """What it was asked and what it sent when."""
        return json.loads(ask_once(self.target, "GET", "/mock/sent").body)

    def sent(self) -> dict[int, dict[str, Any]]:
        """Rows of its book by the ids of the requests."""
        return {row["id"]: row for row in self.book()["requests"]}

    def play(self, wishes: dict[str, Any], *, n: int = 2, requests: int = 4, **options: Any) -> Played:
        """Play a closed round of chat requests; see `asks_of` for the options of a request."""
        how = {name: options.pop(name) for name in ("target", "limits", "on_progress", "over", "keep_text", "load")
               if name in options}  # fmt: skip
        load = how.pop("load", {"model": "closed", "n": n, "requests": requests, "min_s": 0.0})
        return play(how.pop("target", self.target), load, asks_of(wishes, **options), how.pop("limits", LIMITS), **how)


def asks_of(
    wishes: dict[str, Any],
    *,
    endpoint: str = "chat",
    tokens: int = 16,
    stream: bool = True,
    mode: str = "fixed",
    continuous: bool = False,
    dues: list[float] | None = None,
    padding: int = 0,
) -> Iterator[Ask]:
    """Make requests without end, or one for each of ``dues``."""
    for number in itertools.count() if dues is None else range(len(dues)):
        text = f"{number}: say something {'x' * padding}"
        body = body_of(
            endpoint,
            "mock",
            messages=[{"role": "user", "content": text}],
            prompt=text,
            output={"mode": mode, "tokens": tokens},
            stream=stream,
            continuous_usage=continuous,
            extra={"mock": {**wishes, "id": number}},
        )
        forced = tokens if mode == "fixed" else None
        yield Ask(number, path_of(endpoint), body, endpoint, stream, forced, None if dues is None else dues[number])


@contextlib.contextmanager
def start(*arguments: str, key: str = "", scheme: str = "http", host: str = "127.0.0.1") -> Iterator[Mock]:
    """Start an engine on a free port, and end it afterwards."""
    command = [sys.executable, "-m", "tests.bench.mock_engine", "0", "--key", key, "--host", host, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            shown = f"[{host}]" if ":" in host else host
            yield Mock(int(process.stdout.readline()), key, scheme, shown)
        finally:
            process.kill()
