# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine answers to a status: with the key that its container mounts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import rank_look
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.keyed import KEY_MOUNT

KEY = "example-engine-key"


class Handler(BaseHTTPRequestHandler):
    """As vLLM with a key: only paths under /v1 are asked for it."""

    def do_GET(self) -> None:
        refused = self.path.startswith("/v1") and self.headers["Authorization"] != f"Bearer {KEY}"
        body = json.dumps({"error": "Unauthorized"} if refused else {"data": [{"id": "qwen"}]}).encode()
        self.send_response(401 if refused else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def asked(url: str, key: Path | None = None) -> dict[str, Any]:
    mounts = {KEY_MOUNT: str(key)} if key else {}
    return rank_look.ask(Container("r0", "running", 0, False, "chat", "chat-0", url, mounts=mounts))


def test_g13_the_key_is_found_by_the_containers_own_mount(url: str, tmp_path: Path) -> None:
    key_file = tmp_path / "engine.key"
    key_file.write_text(f"{KEY}\n", encoding="utf-8")
    assert asked(url, key=key_file) == {"health": 200, "served": ["qwen"], "refusal": ""}


def test_g13_a_wrong_or_missing_key_is_said(url: str, tmp_path: Path) -> None:
    key_file = tmp_path / "engine.key"
    wanted = f"the engine refuses our key (401): wrong or missing key in {key_file}"
    assert asked(url, key=key_file) == {"health": 200, "served": None, "refusal": wanted}
    key_file.write_text("another-key-of-16-or-more", encoding="utf-8")
    assert asked(url, key=key_file)["refusal"] == wanted
    assert asked(url)["refusal"].endswith("wrong or missing key in /etc/dgxspark-serving/engine.key")


def test_a_key_that_cannot_be_read_is_not_called_wrong(url: str, tmp_path: Path) -> None:
    answer = asked(url, key=tmp_path)
    assert (answer["health"], answer["served"]) == (200, None)
    assert answer["refusal"].startswith("its key cannot be read: ")


def test_an_engine_that_is_gone_refuses_nothing() -> None:
    assert asked("http://127.0.0.1:9") == {"health": None, "served": None, "refusal": ""}
