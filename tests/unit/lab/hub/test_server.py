# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's hub, asked as the clients of the two hubs ask."""

from __future__ import annotations

import hashlib
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPMessage, IncompleteRead
from pathlib import Path
from typing import Any

import pytest

from lab.hub import server
from lab.hub.wheels import TOOLS, command

WEIGHTS = bytes(range(250)) * 800
SHA = hashlib.sha256(WEIGHTS).hexdigest()


class Hub:
    """A running hub."""

    def __init__(self, root: Path, port: int) -> None:
        self.root = root
        self.port = port

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, HTTPMessage, bytes]:
        """Status, headers and content."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def json(self, path: str) -> Any:
        """An answer that is data."""
        return json.loads(self.get(path)[2])

    def behave(self, **behaviour: Any) -> None:
        """How it is from now on."""
        (self.root / "behaviour.json").write_text(json.dumps(behaviour), encoding="utf-8")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub with one model."""
    model = tmp_path / "models/acme/tiny"
    (model / "extra").mkdir(parents=True)
    (model / "config.json").write_text("{}", encoding="utf-8")
    (model / "extra/note.txt").write_text("x", encoding="utf-8")
    (model / "model.safetensors").write_bytes(WEIGHTS)
    running = server.serve(tmp_path, 0, "127.0.0.1")
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield Hub(tmp_path, running.server_port)
    running.shutdown()
    running.server_close()


def test_a_model_and_its_files_are_listed(hub: Hub) -> None:
    info = hub.json("/api/models/acme/tiny")
    assert [one["rfilename"] for one in info["siblings"]] == ["config.json", "extra/note.txt", "model.safetensors"]
    tree = hub.json(f"/api/models/acme/tiny/tree/{info['sha']}?recursive=true&expand=false")
    assert tree[0] == {
        "type": "file",
        "path": "config.json",
        "size": 2,
        "oid": "9e26dfeeb6e641a33dae4961196235bdb965b21b",
    }
    assert tree[2]["lfs"]["oid"] == SHA and tree[2]["size"] == len(WEIGHTS)


def test_a_file_is_sent_whole_and_in_part(hub: Hub) -> None:
    status, headers, content = hub.get("/acme/tiny/resolve/main/model.safetensors")
    assert (status, content, headers["ETag"]) == (200, WEIGHTS, f'"{SHA}"')
    status, headers, content = hub.get("/acme/tiny/resolve/main/model.safetensors", Range="bytes=199000-")
    assert (status, content) == (206, WEIGHTS[199000:])
    assert headers["Content-Range"] == f"bytes 199000-{len(WEIGHTS) - 1}/{len(WEIGHTS)}"
    status, headers, content = hub.get("/acme/tiny/resolve/main/extra/note.txt", method="HEAD")
    assert (status, content, headers["X-Linked-Size"]) == (200, b"", "1")
    assert headers["X-Repo-Commit"] == hub.json("/api/models/acme/tiny/revision/main")["sha"]


@pytest.mark.parametrize(
    ("path", "token", "status", "code"),
    [
        ("/api/models/acme/none", "", 401, "RepoNotFound"),
        ("/api/models/acme/none", "hf_valid", 404, "RepoNotFound"),
        ("/api/models/acme/tiny/revision/v9", "hf_allowed", 404, "RevisionNotFound"),
        ("/acme/tiny/resolve/main/none.json", "hf_allowed", 404, "EntryNotFound"),
        ("/api/models/acme/tiny", "", 401, "GatedRepo"),
        ("/api/models/acme/tiny", "hf_valid", 403, "GatedRepo"),
        ("/api/models/acme/tiny", "hf_other", 401, ""),
        ("/api/models/acme/tiny", "hf_allowed", 200, None),
    ],
)
def test_it_refuses_as_the_hub_does(hub: Hub, path: str, token: str, status: int, code: str | None) -> None:
    hub.behave(gated={"acme/tiny": ["hf_allowed"]}, valid=["hf_valid"])
    answer, headers, _content = hub.get(path, **({"Authorization": f"Bearer {token}"} if token else {}))
    assert (answer, headers["X-Error-Code"]) == (status, code)


def test_it_cuts_a_connection_off(hub: Hub) -> None:
    hub.behave(cut=2 * server.BLOCK)
    with pytest.raises(IncompleteRead) as caught:
        hub.get("/acme/tiny/resolve/main/model.safetensors")
    assert len(caught.value.partial) == 2 * server.BLOCK


def test_it_answers_like_modelscope(hub: Hub) -> None:
    files = hub.json("/api/v1/models/acme/tiny/repo/files?Revision=master&Recursive=True")["Data"]["Files"]
    assert {one["Path"]: one["Size"] for one in files} == {
        "config.json": 2,
        "extra/note.txt": 1,
        "model.safetensors": len(WEIGHTS),
    }
    path = "/api/v1/models/acme/tiny/repo?Revision=master&FilePath=model.safetensors"
    assert hub.get(path, Range="bytes=10-19")[2] == WEIGHTS[10:20]
    assert hub.get("/api/v1/models/acme/tiny/repo/files?Revision=v9")[0] == 404


def test_wheels_are_those_of_the_hosts_python() -> None:
    made = command(Path("/w"), TOOLS, "x86_64")
    assert {"--python-version=3.13", "--abi=cp313", "--abi=abi3", "--platform=manylinux_2_28_x86_64"} <= set(made)
    assert made[-len(TOOLS) :] == list(TOOLS)
