# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker's answers, and the lack of them."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.docker_socket import Docker, without_frames
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.plain_http import address_of
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.state import Container, Run

ANSWER = '{"Id": "x", "State": {"Running": true, "ExitCode": 0, "OOMKilled": false, "StartedAt": "t"}}'


@pytest.fixture
def folder() -> Iterator[Path]:
    # Under /tmp whatever TMPDIR says: the path of a Unix socket is short.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def docker_that_says(folder: Path, answer: bytes) -> Docker:
    path = str(folder / "docker.sock")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()

    def serve() -> None:
        connection, _address = server.accept()
        connection.recv(65536)
        connection.sendall(answer)
        connection.close()
        server.close()

    threading.Thread(target=serve, daemon=True).start()
    return Docker(path)


@pytest.mark.parametrize(
    ("answer", "container"),
    [
        (f"HTTP/1.0 200 OK\r\n\r\n{ANSWER}", Container("running", Run("x", "t"))),
        (f"HTTP/1.1 200 OK\r\nA: b\r\n\r\n{ANSWER.replace('true', 'false')}", Container("stopped", Run("x", "t"))),
        ("HTTP/1.0 404 Not Found\r\n\r\n{}", Container("missing")),
        ("HTTP/1.0 500 Oops\r\n\r\n{}", Container("unknown")),
        ("HTTP/1.0 200 OK\r\n\r\n{}", Container("unknown")),
        ("HTTP/1.0 200 OK\r\n\r\n[1]", Container("unknown")),
        ("HTTP/1.0 200 OK\r\n\r\nnot json", Container("unknown")),
        ("HTTP/1.0 200", Container("unknown")),
        ("220 mail ready\r\n\r\n", Container("unknown")),
        ("", Container("unknown")),
    ],
)
def test_only_a_sound_answer_says_that_an_engine_is_dead(folder: Path, answer: str, container: Container) -> None:
    assert docker_that_says(folder, answer.encode()).look("r0") == container


def test_no_docker_at_all(folder: Path) -> None:
    docker = Docker(str(folder / "nothing.sock"))
    assert docker.look("r0") == Container("unknown")
    assert "No such file" in docker.start("r0")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("HTTP/1.0 204 No Content\r\n\r\n", ""),
        ("HTTP/1.0 304 Not Modified\r\n\r\n", ""),
        (
            'HTTP/1.0 500 Oops\r\n\r\n{"message": "could not select\\nruntime nvidia"}',
            "could not select runtime nvidia",
        ),
        ("HTTP/1.0 500 Oops\r\n\r\n<html>", "status 500"),
    ],
)
def test_what_docker_says_to_a_start(folder: Path, answer: str, error: str) -> None:
    assert docker_that_says(folder, answer.encode()).start("r0") == error


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\x01\0\0\0\0\0\0\x03one\x02\0\0\0\0\0\0\x03two", b"onetwo"),
        (b"a container with a terminal\n", b"a container with a terminal\n"),
        (b"", b""),
    ],
)
def test_frames_of_logs(body: bytes, text: bytes) -> None:
    assert without_frames(body) == text


@pytest.mark.parametrize("url", ["", "https://127.0.0.1:1", "http://127.0.0.1", "http://:8000", "http://h:port"])
def test_an_api_that_cannot_be_asked(url: str) -> None:
    with pytest.raises(ValueError):
        address_of(url)


def test_an_api_that_can_be_asked() -> None:
    assert address_of("http://127.0.0.1:8000/") == ("127.0.0.1", 8000)
