# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's API against a real HTTP server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.engine_api import EngineApi

ANSWERS: dict[str, tuple[int, bytes]] = {}
AUTHORIZATIONS: list[str | None] = []


class Handler(BaseHTTPRequestHandler):
    """Answers what ``ANSWERS`` says for a path."""

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        AUTHORIZATIONS.append(self.headers["Authorization"])
        status, body = ANSWERS.get(self.path, (404, b"not here"))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineApi]:
    ANSWERS.clear()
    AUTHORIZATIONS.clear()
    # B11: a proxy in the environment must not be asked.
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield EngineApi(f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_good_engine_b11(api: EngineApi) -> None:
    ANSWERS["/health"] = (200, b"")
    ANSWERS["/v1/models"] = (200, b'{"data": [{"id": "qwen"}, {"id": "lora"}]}')
    ANSWERS["/version"] = (200, b'{"version": "0.32.0"}')
    ANSWERS["/v1/completions"] = (200, b'{"usage": {"completion_tokens": 32}}')
    assert api.health() == 200
    assert api.served() == ["qwen", "lora"]
    assert api.version() == "0.32.0"
    generation = api.generate("qwen", 32, 5)
    assert (generation.tokens, generation.error, generation.fingerprint) == (32, "", "")
    assert generation.seconds > 0


def test_a_fingerprint(api: EngineApi) -> None:
    ANSWERS["/v1/completions"] = (
        200,
        b'{"usage": {"completion_tokens": 1}, "system_fingerprint": "vllm-0.32.0-tp2-1a2b3c4d"}',
    )
    assert api.generate("qwen", 1, 5).fingerprint == "vllm-0.32.0-tp2-1a2b3c4d"


def test_nothing_answers() -> None:
    api = EngineApi("http://127.0.0.1:9")
    assert (api.health(), api.served(), api.version()) == (None, None, "")
    assert "refused" in api.generate("qwen", 32, 5).error


def test_g13_the_key_goes_with_every_question(api: EngineApi) -> None:
    for one in (api, EngineApi(api.base_url, "example-engine-key")):
        one.health()
        one.served()
        one.generate("qwen", 1, 5)
    assert AUTHORIZATIONS == [None] * 3 + ["Bearer example-engine-key"] * 3


@pytest.mark.parametrize(("status", "refused"), [(401, 401), (403, 403), (404, None), (503, None)])
def test_g13_a_refusal_is_not_silence(api: EngineApi, status: int, refused: int | None) -> None:
    ANSWERS["/health"] = (200, b"")
    ANSWERS["/v1/models"] = (status, b'{"error": "Unauthorized"}')
    assert (api.health(), api.served(), api.refused) == (200, None, refused)
    ANSWERS["/v1/models"] = (200, b'{"data": []}')
    assert (api.served(), api.refused) == ([], None)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"data": 1}', b'{"data": [{}]}', b"\xff"])
def test_models_that_make_no_sense(api: EngineApi, body: bytes) -> None:
    ANSWERS["/v1/models"] = (200, body)
    assert api.served() is None


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (500, b'{"error": {"message": "Invalid\\nCxxCompiler"}}', "HTTP 500: Invalid CxxCompiler"),
        (500, b'{"message": "old form"}', "HTTP 500: old form"),
        (502, b"<h1>Bad gateway</h1>", "HTTP 502: <h1>Bad gateway</h1>"),
        (503, b"", "HTTP 503: no message"),
        (200, b"{}", "the answer has no usage.completion_tokens"),
        (200, b"no json", "the answer has no usage.completion_tokens"),
    ],
)
def test_generations_that_fail(api: EngineApi, status: int, body: bytes, error: str) -> None:
    ANSWERS["/v1/completions"] = (status, body)
    assert api.generate("qwen", 32, 5).error == error


def test_a_version_of_another_shape(api: EngineApi) -> None:
    ANSWERS["/version"] = (200, json.dumps(["0.32.0"]).encode())
    assert api.version() == ""
