# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engine doubles as processes on the loopback interface."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.engines.tiny_model import write_model

PACKAGE_FOLDER = Path(__file__).parents[4] / "lab" / "engines"
LIMIT = 60.0  # seconds until a wait counts as failed; nothing here takes more than a few on a quiet machine
NAME = "tiny"


def free_port(host: str = "127.0.0.1") -> int:
    """Return a TCP port that is free now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Return the first true value of a condition; fails after LIMIT seconds."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    return pytest.fail(f"{what}: not within {LIMIT:.0f} s")


class Answer:
    """A whole HTTP answer."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.text = body.decode()

    def json(self) -> Any:
        """Return the body's JSON."""
        return json.loads(self.text)

    def events(self) -> list[Any]:
        """Return the data of server-sent events; `[DONE]` stays a string."""
        data = [line[6:] for line in self.text.splitlines() if line.startswith("data: ")]
        return [item if item == "[DONE]" else json.loads(item) for item in data]


def ask(port: int, method: str, path: str, body: Any = None, token: str = "", timeout: float = LIMIT) -> Answer:
    """Send one request; raises OSError or http.client.HTTPException when there is no whole answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, content, headers)
        response = connection.getresponse()
        return Answer(response.status, response.read())
    finally:
        connection.close()


class Double:
    """One process of the double."""

    def __init__(self, log_file: Path, arguments: list[str], environment: dict[str, str]) -> None:
        self.port = free_port()
        self.control_port = free_port()
        self._log_file = log_file
        self._arguments = [argument.replace("{port}", str(self.port)) for argument in arguments]
        own = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PACKAGE_FOLDER),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DOUBLE_CONTROL_PORT": str(self.control_port),
            "DOUBLE_LOAD_SECONDS": "0",
            "DOUBLE_TOKENS_PER_SECOND": "0",
            "DOUBLE_EXIT_SECONDS": "0.2",
            "DOUBLE_STALL_SECONDS": "3",
            "DOUBLE_LINGER_SECONDS": "0.2",
            **environment,
        }
        with log_file.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "double", *self._arguments], env=own, stdout=output, stderr=subprocess.STDOUT
            )

    def log(self) -> str:
        """Return what it has printed."""
        return self._log_file.read_text(encoding="utf-8")

    def wait_log(self, text: str) -> None:
        """Wait until it has printed a text; fails at once when it ended without."""

        def printed() -> bool:
            ended = self.process.poll() is not None
            if text in self.log():
                return True
            if ended:
                pytest.fail(f"ended with code {self.process.returncode} before it printed {text!r}:\n{self.log()}")
            return False

        wait_for(printed, f"{text!r} in the log of {self._arguments}")

    def wait_ready(self) -> Double:
        """Wait until it serves."""
        self.wait_log("Application startup complete.")
        return self

    def wait_exit(self) -> int:
        """Wait for its end and return the exit code."""
        return self.process.wait(LIMIT)

    def ask(self, method: str, path: str, **options: Any) -> Answer:
        """Send any request to the API."""
        return ask(self.port, method, path, **options)

    def get(self, path: str, **options: Any) -> Answer:
        """GET from the API."""
        return ask(self.port, "GET", path, **options)

    def post(self, path: str, body: Any, **options: Any) -> Answer:
        """POST to the API."""
        return ask(self.port, "POST", path, body, **options)

    def chat(self, *, stream: bool = False, max_tokens: int = 6, timeout: float = LIMIT, **more: Any) -> Answer:
        """Ask for a chat completion of exactly so many tokens."""
        body = {"model": NAME, "messages": [{"role": "user", "content": "hello there"}], "max_tokens": max_tokens}
        body |= {"ignore_eos": True, "stream": stream, **more}
        return self.post("/v1/chat/completions", body, timeout=timeout)

    def fault(self, name: str, /, **parameters: Any) -> None:
        """Turn a fault on."""
        answer = ask(self.control_port, "POST", f"/fault/{name}", parameters)
        assert answer.status == 200, answer.text

    def clear(self) -> None:
        """Turn all faults off."""
        assert ask(self.control_port, "DELETE", "/fault").status == 200

    def counts(self) -> Any:
        """Return what it has counted."""
        return ask(self.control_port, "GET", "/counts").json()

    def forget(self) -> None:
        """Let it count anew."""
        assert ask(self.control_port, "DELETE", "/counts").status == 200

    def kill(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)


Start = Callable[..., Double]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny model."""
    folder = tmp_path_factory.mktemp("models") / NAME
    write_model(folder)
    return folder


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return a function that starts a double with any command line; all are ended after the module."""
    started: list[Double] = []
    folder = tmp_path_factory.mktemp("doubles")

    def start(*arguments: str, **environment: str) -> Double:
        started.append(Double(folder / f"log{len(started)}", list(arguments), environment))
        return started[-1]

    yield start
    for double in started:
        double.kill()


@pytest.fixture(scope="module")
def serve(launch: Start, model: Path) -> Start:
    """Return a function that starts `vllm serve` of the tiny model with more arguments."""

    def start(*arguments: str, **environment: str) -> Double:
        common = ("--served-model-name", NAME, "--host", "127.0.0.1", "--port", "{port}")
        return launch("vllm", "serve", str(model), *common, *arguments, **environment)

    return start


@pytest.fixture
def port() -> Callable[[], int]:
    """Return a function that finds a free port."""
    return free_port


@pytest.fixture
def until() -> Callable[[Callable[[], Any], str], Any]:
    """Return a function that waits for a condition."""
    return wait_for
