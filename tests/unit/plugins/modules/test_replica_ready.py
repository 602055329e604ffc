# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module's looks: a Docker of the test's own, and an engine that is a real HTTP server on loopback."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.readiness import Wanted
from ansible_collections.dgxspark.serving.plugins.modules import replica_ready

NAME = "dgxspark-a-0-r0"
RUNNING = Container(NAME, "running", 0, False, "a", "a-0", "", id="c1", started_at="2026-11-28T10:00:00Z")
PATIENCE = 30.0
KEY = "example-engine-key"


class Engine(ThreadingHTTPServer):
    """An engine that answers what it is told to, and counts."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer: dict[str, Any] = {"usage": {"completion_tokens": 32}}
        self.status = 200
        self.names = ["qwen"]
        self.key = ""
        self.asked = 0
        self.gate = threading.Event()
        self.gate.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Engine

    def refuses(self) -> bool:
        """As vLLM: only paths under /v1 are asked for the key."""
        key, path = self.server.key, self.path
        if key and path.startswith("/v1") and self.headers["Authorization"] != f"Bearer {key}":
            self._send(401, {"error": "Unauthorized"})
            return True
        return False

    def do_GET(self) -> None:
        if self.refuses():
            return
        models = {"data": [{"id": name} for name in self.server.names]}
        self._send(200, {"/v1/models": models, "/version": {"version": "0.32.0"}}.get(self.path, {}))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.refuses():
            return
        self.server.asked += 1
        self.server.gate.wait(PATIENCE)
        self._send(self.server.status, self.server.answer)

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class FakeDocker:
    def __init__(self, container: Container | None, log: list[str]) -> None:
        self.found = container
        self.lines = log

    def container(self, name: str) -> Container | None:
        return self.found if name == NAME else None

    def log(self, name: str, lines: int = 25) -> list[str]:
        return self.lines[-lines:] if name == NAME else []


class FakeModule:
    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def fail_json(self, msg: str) -> None:
        raise SystemExit(msg)


class Rank:
    """One rank as the module sees it, over several looks of one wait."""

    def __init__(self, folder: Path, url: str) -> None:
        self.docker = FakeDocker(RUNNING, ["INFO loading"])
        self.module = FakeModule(
            {
                "container": NAME,
                "url": url,
                "key_file": "",
                "served_model_name": "qwen",
                "generation_timeout": 60,
                "max_tokens": 32,
                "window": 0,
                "state_folder": str(folder),
                "run": "",
                "lease": 180,
                "wait": {},
            }
        )
        self.wanted = Wanted("qwen")
        self.live = folder / f"{NAME}.json"

    def says(self, **state: Any) -> None:
        self.live.write_text(json.dumps({"pid": os.getpid(), "updated": time.time(), **state}), encoding="utf-8")

    def look(self) -> dict[str, Any]:
        watch = replica_ready.Watch(self.docker, self.module.params)
        result = replica_ready.watched(self.module, watch, self.wanted)
        self.module.params["wait"] = result["wait"]
        return result

    def wait(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            result = self.look()
            if result["state"] != "waiting":
                return result
            time.sleep(0.01)
        raise AssertionError(result)


@pytest.fixture
def engine() -> Iterator[Engine]:
    server = Engine()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.gate.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def rank(engine: Engine, tmp_path: Path) -> Rank:
    return Rank(tmp_path, engine.url)


def test_a_good_engine(rank: Rank) -> None:
    result = rank.wait()
    assert (result["state"], result["engine_version"], result["tokens"]) == ("ready", "0.32.0", 32)
    assert result["tokens_per_second"] > 0
    assert result["world_size_proof"] == {"state": "proven", "detail": "one rank"}
    assert "log" not in result


def test_n10_a_slow_first_generation_is_neither_silent_nor_sent_twice(rank: Rank, engine: Engine) -> None:
    engine.gate.clear()
    details = [rank.look()["detail"] for _look in range(3)]
    assert all(detail.startswith("the first request runs for ") for detail in details)
    engine.gate.set()
    assert rank.wait()["state"] == "ready"
    assert engine.asked == 1


def test_n10_a_generation_that_fails_names_cause_and_remedy(rank: Rank, engine: Engine) -> None:
    engine.status, engine.answer = 500, {"error": {"message": "InvalidCxxCompiler: No working C++ compiler found"}}
    result = rank.wait()
    assert (result["state"], result["stage"]) == ("failed", "generation")
    assert result["detail"].startswith("/health answers 200, but one generation failed: HTTP 500: InvalidCxx")
    assert result["diagnosis"][0]["id"] == "cxx-missing"
    assert result["log"] == ["INFO loading"]


def test_g13_the_key_goes_to_models_and_generation_alike(rank: Rank, engine: Engine, tmp_path: Path) -> None:
    engine.key = KEY
    key_file = tmp_path / "engine.key"
    key_file.write_text(f"{KEY}\n", encoding="utf-8")
    rank.module.params["key_file"] = str(key_file)
    result = rank.wait()
    assert (result["state"], result["tokens"]) == ("ready", 32)
    assert KEY not in json.dumps(result)


@pytest.mark.parametrize("content", [None, "another-key-of-16-or-more"])
def test_g13_a_refused_key_is_said_and_is_not_down(
    rank: Rank, engine: Engine, tmp_path: Path, content: str | None
) -> None:
    engine.key = KEY
    key_file = tmp_path / "engine.key"
    if content:
        key_file.write_text(content, encoding="utf-8")
    rank.module.params["key_file"] = str(key_file)
    rank.wanted = Wanted("qwen", key_file=str(key_file))
    result = rank.look()
    assert (result["state"], result["stage"]) == ("failed", "key")
    assert result["detail"] == f"the engine refuses our key (401): wrong or missing key in {key_file}"
    assert result["diagnosis"][0]["remedy"].startswith("Deploy again with gateway_engine_key: true")
    assert engine.asked == 0


def test_a_key_that_cannot_be_read(rank: Rank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engine.key").write_text("short", encoding="utf-8")
    rank.module.params["key_file"] = str(tmp_path / "engine.key")
    monkeypatch.setattr(replica_ready, "Docker", lambda module: rank.docker)
    with pytest.raises(SystemExit, match=r"engine.key does not hold a key.* Set become: true"):
        replica_ready.watch_for(rank.module)
    # A rank without an API is asked nothing.
    rank.module.params["url"] = ""
    assert replica_ready.watch_for(rank.module).docker is rank.docker


def test_any_name_will_do(rank: Rank, engine: Engine) -> None:
    engine.names = ["other"]
    assert rank.wait()["detail"] == "the engine serves other, wanted qwen"
    rank.module.params["served_model_name"] = ""
    rank.wanted = Wanted("")
    assert rank.wait()["state"] == "ready"


def test_each_wait_generates_anew(rank: Rank, engine: Engine) -> None:
    rank.wait()
    rank.module.params["wait"] = {}
    rank.wait()
    assert engine.asked == 2


def test_a_container_that_was_started_again_is_asked_again(rank: Rank, engine: Engine) -> None:
    rank.wait()
    rank.docker.found = replace(RUNNING, started_at="2026-11-28T11:00:00Z")
    rank.wait()
    assert engine.asked == 2


def test_a_request_that_cannot_be_sent(rank: Rank, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder_for(state_folder: str) -> Path:
        raise PermissionError("/tmp/x is not a folder of this user alone")

    monkeypatch.setattr(replica_ready, "folder_for", folder_for)
    assert "it could not be asked for: /tmp/x is not a folder of this user alone" in rank.look()["detail"]
    assert engine.asked == 0


def test_progress_and_masked_log(rank: Rank) -> None:
    rank.module.params["url"] = "http://127.0.0.1:9"
    rank.docker.lines = [
        "HF_TOKEN=hf_CANARY123",
        'INFO:     127.0.0.1:36968 - "GET /health HTTP/1.1" 503',
        "(W pid=1) Loading safetensors checkpoint shards:  50% Completed | 5/10",
    ]
    result = rank.look()
    assert (result["state"], result["engine_stage"], result["percent"]) == ("waiting", "loading weights", 50)
    assert "CANARY" not in json.dumps(result)
    assert result["log"] == ["HF_TOKEN=***", rank.docker.lines[-1]]
    assert result["diagnosis"] == []


def test_d02_an_engine_that_ended(rank: Rank) -> None:
    rank.docker.found = replace(RUNNING, status="exited", exit_code=1)
    rank.docker.lines = ["vllm: error: unrecognized arguments: --max-model-length 4096"]
    result = rank.look()
    assert (result["state"], result["detail"]) == ("failed", "the engine ended with exit code 1")
    assert result["diagnosis"][0]["id"] == "unknown-flag"
    rank.docker.found = replace(RUNNING, status="restarting", exit_code=1, restarts=4)
    assert rank.look()["state"] == "failed"


def test_d02_restarts_by_the_supervisor_count_from_the_begin_of_the_wait(rank: Rank) -> None:
    rank.module.params["url"] = "http://127.0.0.1:9"
    rank.says(phase="loading", restarts=5)
    assert rank.look()["state"] == "waiting"
    rank.says(phase="loading", restarts=8, reason="hung")
    result = rank.look()
    assert (result["state"], result["detail"]) == (
        "failed",
        "the engine was started again 3 times, the last time with exit code 0 (hung)",
    )


def test_a_supervisor_that_gave_up_names_its_evidence(rank: Rank) -> None:
    rank.docker.found = replace(RUNNING, status="exited", exit_code=137)
    rank.says(phase="down", reason="rank 1 is not heard", last_restart={"evidence": "/var/lib/x/evidence/1"})
    result = rank.look()
    assert (result["state"], result["detail"]) == ("failed", "its supervisor gave up: rank 1 is not heard")
    assert result["evidence"] == "/var/lib/x/evidence/1"
    assert result["diagnosis"] == [], "its exit code is that of the supervisor's stop"


def test_what_an_earlier_supervisor_left_does_not_count(rank: Rank) -> None:
    rank.live.write_text(json.dumps({"phase": "down", "pid": 2**22 + 1, "updated": 1.0}), encoding="utf-8")
    assert rank.wait()["state"] == "ready"


def test_d11_sockets_where_roce_was_asked_for(rank: Rank) -> None:
    rank.module.params["url"] = "http://127.0.0.1:9"
    rank.docker.lines = ["NCCL INFO NET/IB : No device found.", "NCCL INFO Using network Socket", *["x"] * 1000]
    rank.wanted = Wanted("qwen", 2, "roce")
    result = rank.look()
    assert (result["state"], result["stage"]) == ("failed", "transport")
    assert [found["id"] for found in result["diagnosis"]] == ["ib-missing", "nccl-sockets"]
    rank.wanted = Wanted("qwen", 2, "socket")
    result = rank.look()
    assert (result["state"], result["diagnosis"]) == ("waiting", [])


@pytest.mark.parametrize(
    ("fingerprint", "log", "state", "proof"),
    [
        ("vllm-0.32.0-tp2-1a2b3c4d", [], "ready", "proven"),
        ("", ["world_size=2 rank=0 local_rank=0", *["x"] * 1000], "ready", "proven"),
        ("", [], "ready", "not proven"),
        ("", ["world_size=1 rank=0 local_rank=0"], "failed", None),
    ],
)
def test_the_world_size_is_proven(
    rank: Rank, engine: Engine, fingerprint: str, log: list[str], state: str, proof: str | None
) -> None:
    engine.answer["system_fingerprint"] = fingerprint
    rank.docker.lines = log
    rank.wanted = Wanted("qwen", 2)
    result = rank.wait()
    assert result["state"] == state
    assert result.get("world_size_proof", {}).get("state") == proof
    assert bool(rank.module.warnings) == (proof == "not proven")


def test_u02_memory_under_the_floor(rank: Rank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_ready, "memory_available", lambda: [5 * 2**30])
    rank.wanted = Wanted("qwen", memory_floor=6 * 2**30)
    assert rank.look()["stage"] == "memory"


def test_the_hosts_own_memory() -> None:
    assert replica_ready.memory_available()[0] > 2**20


def test_a_rank_without_an_api_waits_for_its_supervisor(rank: Rank, engine: Engine) -> None:
    rank.module.params["url"] = ""
    rank.wanted = Wanted("qwen", 2, has_api=False)
    rank.says(phase="loading")
    assert rank.look()["state"] == "waiting"
    rank.says(phase="serving")
    result = rank.look()
    assert result["state"] == "ready"
    assert "tokens" not in result
    assert engine.asked == 0


def test_the_lease_is_renewed(rank: Rank, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed: list[tuple[str, float]] = []
    holds = [True, False]

    def renew(run: str, seconds: float) -> bool:
        renewed.append((run, seconds))
        return holds.pop(0)

    monkeypatch.setattr(replica_ready.lease, "renew", renew)
    replica_ready.renew_lease(rank.module)
    assert renewed == []
    rank.module.params["run"] = "r1"
    replica_ready.renew_lease(rank.module, 300)
    assert renewed == [("r1", 480)]
    with pytest.raises(SystemExit, match="no longer holds the change of this host"):
        replica_ready.renew_lease(rank.module)


def test_a_lease_without_root(rank: Rank, monkeypatch: pytest.MonkeyPatch) -> None:
    def renew(run: str, seconds: float) -> bool:
        raise PermissionError(13, "Permission denied", "/run/dgxspark-serving/lock.guard")

    monkeypatch.setattr(replica_ready.lease, "renew", renew)
    rank.module.params["run"] = "r1"
    with pytest.raises(SystemExit, match="Run the task with become"):
        replica_ready.renew_lease(rank.module)
