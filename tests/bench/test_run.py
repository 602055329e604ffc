# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs against the mock engine: what is played, kept, skipped and refused, and what an interruption leaves."""

from __future__ import annotations

import base64
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import basic

from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import points_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import asks as asks_module
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import engine_counts, laid, sequence, tokens
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import kept as kept_module
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import Kept, unpacked
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.work import Run
from ansible_collections.dgxspark.serving.plugins.modules import benchmark
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import (
    CASE,
    order,
    played,
    spec,
    step,
)

ROOT = Path(__file__).parents[2]
KEY = "sk-this-is-the-key"
JOB = "benchmark-test"
CLOSED = {"model": "closed", "n": 2, "requests": 6, "min_s": 0.0}
HALF = {"model": "open", "rate": None, "share": 0.5, "requests": 4}


class Engine:
    """The mock engine in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        argv = [sys.executable, "-m", "tests.bench.mock_engine", "0", *arguments]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def sent(self) -> list[dict[str, Any]]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.url}/mock/sent", timeout=10) as response:
            return list(json.load(response)["requests"])

    def ask(self, body: dict[str, Any]) -> None:
        """Have an answer of it, as somebody who is not the benchmark."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.url}/v1/chat/completions", json.dumps(body).encode(), timeout=10) as response:
            response.read()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.end()


@pytest.fixture(autouse=True)
def jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(folders, "jobs_root", lambda: tmp_path / "jobs")
    yield
    JobFolder(JOB).end()


@pytest.fixture
def kept() -> Kept:
    return Kept(JOB)


class Told:
    """The progress that is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, _done: int, _total: int, text: str) -> None:
        self.lines.append(text)


def target(name: str, url: str, **more: Any) -> dict[str, Any]:
    entry = order(url)["targets"][0]
    return {**entry, "name": name, "served_model_name": "mock", **more}


def wanted(url: str, *rounds: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An order for one target."""
    return order(url, **{"targets": [target("gateway", url)], "rounds": list(rounds), **more})


def plain(users: int) -> dict[str, Any]:
    """A step of a ladder as it is ordered."""
    return {key: value for key, value in step(users, None).items() if key in spec()}


def play(document: dict[str, Any], kept: Kept, known: list[dict[str, Any]] | None = None) -> tuple[Any, ...]:
    """Play a run here and now: what it says, its rounds by id, and the lines that it told."""
    told = Told()
    said = Run(document, known or [], kept, told).work()  # type: ignore[arg-type]
    return said, {one["id"]: one for one in kept.read()}, told.lines


def wish(monkeypatch: pytest.MonkeyPatch, **wishes: Any) -> None:
    """Let all requests of rounds have a wish for the mock engine."""
    real = asks_module.body_of

    def body_of(*arguments: Any, **more: Any) -> bytes:
        return real(*arguments, **{**more, "extra": {"mock": wishes}})

    monkeypatch.setattr(asks_module, "body_of", body_of)


def test_every_kind_of_load_is_played_and_measured(shared: Engine, kept: Kept) -> None:
    case = {**CASE, "prompt_tokens": 300}
    warm = spec("0000", warmup=True, load={**CLOSED, "min_s": 2.2})
    rounds = [warm, spec("0001", load=CLOSED), plain(1), plain(2), spec("0002", load=HALF, ladder="knee"),
              spec("0003", load={"model": "series", "n": 1, "requests": 3}, endpoint="completions"),
              spec("0004", load=CLOSED, endpoint="responses"), spec("0005", load=CLOSED, stream=False)]  # fmt: skip
    said, found, lines = play(wanted(shared.url, *rounds, cases=[case]), kept)
    assert said == {"played": 8, "skipped_rounds": 0, "failure": ""}
    assert [one["errors"] for one in found.values()] == [{}] * 8
    measured = found["0001"]
    assert len(measured["requests"]) == 6
    assert measured["concurrency"]["peak"] == 2
    assert measured["summary"]["output_tps"]["value"] > 0
    assert measured["server"]["generation_tokens"] == 6 * 8
    assert {one["server"]["foreign_tokens"] for one in found.values()} == {0}
    assert measured["client"]["address"] == shared.url.removeprefix("http://")
    assert measured["prompt_fit"]["tokens"] == pytest.approx(300, abs=3)
    # Gauges are looked at in warm-up rounds alone.
    assert found["0000"]["server"]["running_max"] in (1, 2)
    assert measured["server"]["running_max"] is None
    rate = found["0002"]["load"]["rate"]
    assert rate == pytest.approx(max(found[name]["summary"]["request_rate"]["value"] for name in ("l001", "l002")) / 2)
    assert [one["t_sched"] is not None for one in found["0002"]["requests"]] == [True] * 4
    assert found["0005"]["summary"]["ttft_ms"]["p50"] is None
    assert found["0005"]["summary"]["e2el_ms"]["p50"] > 0
    assert lines[0] == "looking at gateway"
    assert "round 1 of 8, short.en N=2 gateway (warm-up): " in lines[2]
    assert next(line for line in lines if line.startswith("round 2 of 8")).startswith(
        "round 2 of 8, short.en N=2 gateway, about "
    )


def test_the_client_is_tested_once_before_the_first_round(shared: Engine, kept: Kept) -> None:
    rounds = [spec("0001", load=CLOSED), spec("0002", load=CLOSED)]
    document = wanted(shared.url, *rounds)
    told = Told()
    said = Run(document, [], kept, told, tests_client=True).work()  # type: ignore[arg-type]
    assert said == {"played": 2, "skipped_rounds": 0, "failure": ""}
    assert told.lines[:2] == ["looking at gateway", "testing the client"]
    assert told.lines[2].startswith("round 1 of 2")
    found = kept.answer([])["self_test"]
    assert (found["error"], found["tokens"]) == (None, 528)
    # A run that goes on has it.
    kept.drop(["0002"])
    told = Told()
    Run(document, [], kept, told, tests_client=True).work()  # type: ignore[arg-type]
    assert "testing the client" not in told.lines
    assert kept.self_test() == found


def test_a_run_that_is_refused_or_does_not_want_it_makes_no_self_test(shared: Engine, kept: Kept) -> None:
    _said, _found, lines = play(wanted(shared.url, spec("0001", load=CLOSED)), kept)
    assert "testing the client" not in lines
    nobody = wanted("http://127.0.0.1:9", spec("0009", load=CLOSED))
    with pytest.raises(WorkFailed):
        Run(nobody, [], kept, Told(), tests_client=True).work()  # type: ignore[arg-type]
    assert kept.self_test() is None


def test_what_the_engine_makes_for_somebody_else_is_counted(shared: Engine, kept: Kept) -> None:
    over = threading.Event()

    def other() -> None:
        body = {"model": "mock", "messages": [{"role": "user", "content": "me first"}], "max_tokens": 20}
        while not over.is_set():
            shared.ask(body)

    user = threading.Thread(target=other)
    user.start()
    try:
        _said, found, _lines = play(wanted(shared.url, spec("0001", load={**CLOSED, "min_s": 1.0})), kept)
    finally:
        over.set()
        user.join()
    assert found["0001"]["server"]["foreign_tokens"] >= 20


def test_counters_of_some_engines_behind_a_gateway_are_not_read(shared: Engine, kept: Kept) -> None:
    gateway = target("gateway", shared.url, unread=["main-1"])
    case = {**CASE, "prompt_tokens": 300}
    document = wanted(shared.url, spec("0000", warmup=True), spec(), targets=[gateway], cases=[case])
    said, found, _lines = play(document, kept)
    assert (said["played"], said["failure"]) == (2, "")
    assert [one["server"] for one in found.values()] == [None, None]
    # Any engine can tell how many tokens a text has.
    assert found["0001"]["prompt_fit"]["tokens"] == pytest.approx(300, abs=3)


def test_no_part_of_a_key_is_in_a_kept_round(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a server says back lies in the files of rounds, too, which nobody looks through afterwards."""
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n", "ascii")
    wish(monkeypatch, status=400, body={"error": {"message": f"{'x' * 190}{KEY} sk-somebody-elses"}})
    gateway = target("gateway", shared.url, key_file=str(path))
    play(wanted(shared.url, spec(load=CLOSED), targets=[gateway]), kept)
    (one,) = kept.read()
    assert one["errors"] == {"http_4xx": 6}
    assert one["error_samples"][0]["message"].startswith("HTTP 400: xxx")
    assert KEY[:6] not in json.dumps(one)


def test_no_prompt_begins_like_another(shared: Engine, kept: Kept) -> None:
    before = len(shared.sent())
    play(wanted(shared.url, spec("0001", load=CLOSED), spec("0002", load=CLOSED)), kept)
    texts = [row["body"]["messages"][0]["content"] for row in shared.sent()[before + 1 :]]
    assert len(texts) == len({text[:12] for text in texts}) == 12


def test_b09_a_round_that_is_played_again_has_other_prompts_of_the_same_length(shared: Engine, kept: Kept) -> None:
    document = wanted(shared.url, spec("0001", load=CLOSED))
    texts, nonces = [], []
    for _start in range(2):
        before = len(shared.sent())
        _said, found, _lines = play(document, kept)
        texts.append([row["body"]["messages"][0]["content"] for row in shared.sent()[before + 1 :]])
        nonces.append(found["0001"]["nonce"])
        # As after an interruption in the midst of it: its requests were sent, and it was not kept.
        kept.drop(["0001"])
    assert len({text[:12] for start in texts for text in start}) == 12
    assert sorted(map(len, texts[0])) == sorted(map(len, texts[1]))
    run = document["run"]["nonce"]
    assert nonces[0] != nonces[1]
    assert all(nonce.startswith(f"{run}-") for nonce in nonces)


def test_conversations_carry_the_answers_on(shared: Engine, kept: Kept) -> None:
    case = {**CASE, "conversations": [["One?", "Two?", "Three?"]]}
    del case["prompts"]
    before = len(shared.sent())
    _said, found, _lines = play(wanted(shared.url, spec(load=CLOSED), cases=[case]), kept)
    assert found["0001"]["errors"] == {}
    bodies = [row["body"]["messages"] for row in shared.sent()[before + 1 :]]
    assert sorted(len(messages) for messages in bodies) == [1, 1, 3, 3, 5, 5]
    last = next(messages for messages in bodies if len(messages) == 5)
    assert [message["role"] for message in last] == ["user", "assistant"] * 2 + ["user"]
    assert all(message["content"] for message in last)


def test_b04_tokens_without_usage_are_those_of_tokenize(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish(monkeypatch, usage=False, itl=0.005)
    _said, found, _lines = play(wanted(shared.url, spec(load=CLOSED)), kept)
    records = found["0001"]["requests"]
    assert {record["token_source"] for record in records} == {"tokenize"}
    assert all(record["tokens"]["completion"] for record in records)
    assert all(record["tpot_ms"] > 0 for record in records)
    assert "text" not in json.dumps(found).replace("text_chars", "")


def test_b04_a_tokenize_that_hangs_does_not_hold_up_the_run(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish(monkeypatch, usage=False)
    monkeypatch.setattr(tokens, "SECONDS", 0.5)
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        real = tokens.post

        def post(engine: Any, *arguments: Any) -> Any:
            asked.append(engine.url)
            return real(engine, *arguments)

        monkeypatch.setattr(tokens, "post", post)
        engines = [{"replica": "main-0", "url": f"http://127.0.0.1:{deaf.getsockname()[1]}", "key_file": ""}]
        monkeypatch.setattr(engine_counts, "SECONDS", 0.2)
        targets = [target("gateway", shared.url, engines=engines)]
        rounds = [spec("0001", load=CLOSED), spec("0002", load=CLOSED)]
        case = {**CASE, "cache": "warm"}
        said, found, lines = play(wanted(shared.url, *rounds, targets=targets, cases=[case]), kept)
    assert said == {"played": 2, "skipped_rounds": 0, "failure": ""}
    assert {record["token_source"] for one in found.values() for record in one["requests"]} == {"none"}
    assert len(asked) == 1
    assert sum(line.endswith("gateway: counting tokens") for line in lines) == 2


def test_b06_a_short_answer_without_usage_is_a_failure(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish(monkeypatch, usage=False, tokens=2, finish="stop")
    case = {**CASE, "output": {"mode": "fixed", "tokens": 64}}
    _said, found, _lines = play(wanted(shared.url, spec(load=CLOSED), cases=[case]), kept)
    assert found["0001"]["errors"] == {"short_output": 6}
    assert "where exactly 64 were asked for" in found["0001"]["error_samples"][0]["message"]


def test_a_case_that_is_refused_is_left_out_and_the_others_go_on(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = asks_module.body_of

    def body_of(endpoint: str, *arguments: Any, **more: Any) -> bytes:
        refuses = {"mock": {"status": 400}} if endpoint == "completions" else None
        return real(endpoint, *arguments, **{**more, "extra": refuses})

    monkeypatch.setattr(asks_module, "body_of", body_of)
    # Each user asks once: after a refusal they pause.
    load = {**CLOSED, "n": 6}
    ends = ["completions"] * 4 + ["chat"]
    rounds = [spec(f"{number:04}", load=load, endpoint=end) for number, end in enumerate(ends)]
    said, found, _lines = play(wanted(shared.url, *rounds), kept)
    assert said == {"played": 4, "skipped_rounds": 1, "failure": ""}
    assert (found["0003"]["skip_kind"], found["0004"]["errors"]) == ("refused", {})
    assert found["0003"]["skipped"].startswith("No request of 3 rounds of short.en by completions at gateway succeeded")


@pytest.mark.parametrize(
    ("case", "cached", "head", "rate"),
    [
        pytest.param({}, 64, 70, 0.0, id="the head alone"),
        pytest.param({}, 83, 70, 0.1, id="more than it"),
        pytest.param({}, 0, 70, 0.0, id="a cache that is off"),
        pytest.param({"cache": "warm"}, 64, None, 0.32, id="warm on purpose"),
    ],
)
def test_b9_the_head_of_the_chat_template_is_no_prompt_seen_before(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any], cached: int, head: int | None, rate: float
) -> None:
    wish(monkeypatch, prompt_tokens=200, cached_tokens=cached)
    engine = Engine("--head", "70")
    try:
        document = wanted(engine.url, spec(load=CLOSED), cases=[{**CASE, **case}])
        _said, found, _lines = play(document, kept)
    finally:
        engine.end()
    one = found["0001"]
    assert one["server"] == {**one["server"], "prefix_queries": 1200, "prefix_hits": 6 * cached, "head_tokens": head}
    assert one["summary"]["cache_hit_rate"]["value"] == rate
    (point,) = points_of([one], document)
    # Of a machine that is busy with other things the client may have its own to say.
    assert any("prefix cache" in why for why in point["invalid_reasons"]) is (rate > 0 and head is not None)


def test_b06_b08_failures_are_kept_by_kind(shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    wish(monkeypatch, error_after=2)
    _said, found, _lines = play(wanted(shared.url, spec(load=CLOSED)), kept)
    assert found["0001"]["errors"] == {"stream_error": 6}
    assert found["0001"]["summary"]["ttft_ms"]["p50"] is None
    assert found["0001"]["summary"]["error_rate"]["value"] == 1


def test_b14_our_own_time_out_is_named_as_ours(shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    wish(monkeypatch, hang="silent")
    limits = {"connect_s": 5, "ttft_s": 1, "idle_s": 1, "total_s": 5}
    load = {**CLOSED, "requests": 2}
    _said, found, _lines = play(wanted(shared.url, spec(load=load), limits=limits), kept)
    assert found["0001"]["errors"] == {"timeout_ttft": 2}
    assert "the client's own time-out" in found["0001"]["error_samples"][0]["message"]


def test_b11_a_proxy_in_the_environment_is_not_used(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _said, found, _lines = play(wanted(shared.url, spec(load=CLOSED)), kept)
    assert found["0001"]["errors"] == {}
    assert found["0001"]["prompt_fit"] == {"words": None, "tokens": None}


def test_all_targets_are_looked_at_before_any_load(shared: Engine, kept: Kept, tmp_path: Path) -> None:
    locked = Engine("--key", KEY)
    wrong = tmp_path / "key"
    wrong.write_text("sk-another\n", encoding="ascii")
    targets = [
        target("gateway", shared.url, served_model_name="llama"),
        target("main-0", "http://127.0.0.1:9"),
        target("main-1", locked.url),
        target("main-2", locked.url, key_file=str(wrong)),
        target("main-3", shared.url),
    ]
    before = len(shared.sent())
    try:
        with pytest.raises(WorkFailed) as error:
            rounds = [spec(entry["name"], target=entry["name"]) for entry in targets]
            play(wanted(shared.url, *rounds, targets=targets), kept)
    finally:
        locked.end()
    words = str(error.value)
    assert words.startswith("The configuration has 4 errors; nothing was changed.")
    assert f"target gateway ({shared.url}): found that it serves mock, wanted llama." in words
    assert (
        "target main-0 (http://127.0.0.1:9): found no answer to /v1/models: no connection: Connection refused" in words
    )
    assert "found that it refuses requests without a key (HTTP 401: " in words
    assert f"found that it refuses the key in {wrong} (HTTP 401: " in words
    assert "main-3" not in words
    # The mock engine repeats the key that it refuses.
    assert "sk-another" not in words
    # One short answer of the one target that is right, and nothing else.
    assert len(shared.sent()) == before + 1


def test_a_target_that_dies_is_left_out_and_the_others_go_on(shared: Engine, kept: Kept) -> None:
    mortal = Engine()
    targets = [target("gateway", shared.url), target("main-0", mortal.url)]
    # Each user asks once: after a refused connection they pause.
    load = {**CLOSED, "n": 6}
    rounds = [spec(f"{number:04}", load=load, target=name) for number, name in enumerate(
        ["main-0", "gateway", "main-0", "main-0", "main-0", "main-0", "gateway"])]  # fmt: skip
    document = wanted(shared.url, *rounds, targets=targets)

    class Killing(Told):
        def tell(self, _done: int, _total: int, text: str) -> None:
            if text.startswith("round 3 of 7, short.en N=6 main-0"):
                mortal.end()
            super().tell(_done, _total, text)

    said = Run(document, [], kept, Killing()).work()  # type: ignore[arg-type]
    found = {one["id"]: one for one in kept.read()}
    assert said == {"played": 6, "skipped_rounds": 1, "failure": ""}
    assert [found[f"000{number}"]["errors"] for number in (2, 3, 4)] == [{"connect": 6}] * 3
    assert found["0005"]["skipped"].startswith("main-0 answered no request of 3 rounds in a row (the last: no conn")
    assert found["0006"]["errors"] == {}
    # Mended and resumed: what was skipped for that is played.
    revived = Engine()
    try:
        document["targets"][1] = target("main-0", revived.url)
        again, found, _lines = play(document, kept)
    finally:
        revived.end()
    assert again == {"played": 1, "skipped_rounds": 0, "failure": ""}
    assert (found["0005"]["skipped"], found["0005"]["errors"]) == ("", {})


def test_a_resumed_run_knows_the_knee_of_the_rounds_that_the_controller_holds(shared: Engine, kept: Kept) -> None:
    known = [sequence.known_of(step(1, 50, rate=9.0)), sequence.known_of(step(2, 51, rate=9.5))]
    rounds = [plain(1), plain(2), plain(4), spec("0009", load=HALF)]
    said, found, _lines = play(wanted(shared.url, *rounds), kept, known)
    assert said == {"played": 1, "skipped_rounds": 1, "failure": ""}
    assert sorted(found) == ["0009", "l004"]
    assert found["l004"]["skipped"].startswith("The ladder is at its end: 1 to 2 users")
    assert found["0009"]["load"]["rate"] == 4.5


def test_only_targets_that_have_something_to_do_are_looked_at(shared: Engine, kept: Kept) -> None:
    targets = [target("gateway", shared.url), target("main-0", "http://127.0.0.1:9")]
    rounds = [spec("0001", target="main-0"), spec("0002", load=CLOSED)]
    known = [sequence.known_of(played(rounds[0]))]
    said, found, _lines = play(wanted(shared.url, *rounds, targets=targets), kept, known)
    assert said == {"played": 1, "skipped_rounds": 0, "failure": ""}
    assert list(found) == ["0002"]


def test_a_full_disk_ends_the_run_with_what_it_has(shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = os.fsync, []

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(kept_module.os, "fsync", fsync)
    rounds = [spec(f"000{number}", load=CLOSED) for number in range(3)]
    said, found, _lines = play(wanted(shared.url, *rounds), kept)
    assert said["played"] == 1
    assert f"Round 0001 (short.en/chat/gateway/n4) is lost: {kept.path}" in said["failure"]
    assert "No space left on device" in said["failure"]
    assert list(found) == ["0000"]


class Ended(Exception):
    """The module has answered."""


class Module:
    """Calls the module as Ansible does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.have: dict[str, dict[str, Any]] = {}

        def end(_module: object, **result: Any) -> None:
            raise Ended(result)

        monkeypatch.setattr(basic.AnsibleModule, "exit_json", end)
        monkeypatch.setattr(
            basic.AnsibleModule, "fail_json", lambda _module, **result: end(_module, failed=True, **result)
        )

    def call(self, stage: str, **options: Any) -> dict[str, Any]:
        options = {"job_id": JOB, "job_stage": stage, "job_wait": 0.5, "have": sorted(self.have), **options}
        arguments = json.dumps({"ANSIBLE_MODULE_ARGS": options}).encode()
        self._monkeypatch.setattr(basic, "_ANSIBLE_ARGS", arguments)
        self._monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
        with pytest.raises(Ended) as ended:
            benchmark.main()
        answer = dict(ended.value.args[0])
        for round_id, packed in answer["rounds"].items():
            self.have[round_id] = unpacked(base64.b64decode(packed))
        return answer

    def until(self, state: str, rounds: int = 0) -> dict[str, Any]:
        answer = self.call("poll")
        for _time in range(120):
            if answer["job"]["state"] == state and len(self.have) >= rounds:
                return answer
            answer = self.call("poll")
        raise AssertionError(answer)


def test_the_module_works_in_the_background_and_gives_each_round_once(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    locked = Engine("--key", KEY)
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n", encoding="ascii")
    try:
        rounds = [spec(f"000{number}", load=CLOSED) for number in range(3)]
        engines = [{"replica": "main-0", "url": locked.url, "key_file": str(path)}]
        doors = [target("gateway", locked.url, key_file=str(path), engines=engines)]
        module = Module(monkeypatch)
        first = module.call("start", order=wanted(locked.url, *rounds, targets=doors))
        assert "failed" not in first
        # A controller that was away and comes back finds the run again.
        assert "failed" not in module.call("start", order=wanted(locked.url, *rounds, targets=doors))
        last = module.until("done", 3)
    finally:
        locked.end()
    assert (last["played"], last["failure"], last["changed"]) == (3, "", False)
    assert [one["errors"] for one in module.have.values()] == [{}] * 3
    assert module.call("poll")["rounds"] == {}
    said = json.dumps([first, last, module.have]) + (JobFolder(JOB).log).read_text(encoding="utf-8")
    assert KEY not in said
    assert JobFolder(JOB).alive()
    assert module.call("stop")["rounds"] == {}
    assert not JobFolder(JOB).alive()
    assert not kept.path.exists()


def test_a_run_that_is_killed_keeps_its_rounds_and_goes_on(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = {**CLOSED, "min_s": 0.5}
    document = wanted(shared.url, *[spec(f"000{number}", load=load) for number in range(4)])
    module = Module(monkeypatch)
    module.call("start", order=document)
    module.until("running", 1)
    os.killpg(int((JobFolder(JOB).path / "lock").read_text(encoding="ascii")), signal.SIGKILL)
    gone = module.call("poll")
    assert gone["failed"]
    held = sorted(module.have)
    assert 1 <= len(held) < 4
    again = Module(monkeypatch)
    again.have = {round_id: module.have[round_id] for round_id in held[:1]}
    again.call("start", order=document, known=[sequence.known_of(one) for one in again.have.values()])
    last = again.until("done", 4)
    # What the controller has and what is still on the host is not played again.
    assert last["played"] == 4 - len(held)
    assert sorted(again.have) == ["0000", "0001", "0002", "0003"]
    assert again.have[held[0]]["began"] == module.have[held[0]]["began"]


def test_the_end_of_the_controller_is_the_end_of_the_load(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish(monkeypatch, hang_after=2)
    module = Module(monkeypatch)
    document = wanted(shared.url, spec(load={"model": "closed", "n": 4, "requests": 400, "min_s": 60.0}))
    module.call("start", order=document)
    until = time.monotonic() + 30
    while not any(row["tokens"] == 8 and len(row["sent"]) == 2 for row in shared.sent()):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert module.call("stop")["rounds"] == {}
    assert not JobFolder(JOB).alive()
    seen = len(shared.sent())
    time.sleep(0.3)
    assert len(shared.sent()) == seen


def test_what_was_laid_for_the_run_goes_with_it(
    shared: Engine, kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(laid, "laid_path", lambda _run_id, name: str(tmp_path / f"laid.{name}"))
    paths = [tmp_path / f"laid.{name}" for name in ("key", "ca.pem")]
    own = tmp_path / "engine.key"
    for path in (*paths, own):
        path.write_text(f"{KEY}\n", encoding="ascii")
    entry = target("gateway", shared.url, key_file=str(paths[0]), ca_file=str(paths[1]))
    entry["engines"] = [{"replica": "main-0", "url": shared.url, "key_file": str(own)}]
    document = wanted(shared.url, spec("0001", load={**CLOSED, "min_s": 20.0}), targets=[entry])
    module = Module(monkeypatch)
    module.call("start", order=document)
    until = time.monotonic() + 30
    while paths[0].exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    # Certificates are read for each round.
    assert paths[1].exists()
    module.call("stop", order=document)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["engine.key"]


def test_a_bad_order_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Module(monkeypatch).call("start", order=wanted("ftp://x", spec(target="main-7")))
    assert answer["failed"]
    assert answer["msg"].startswith("The configuration has 2 errors; nothing was changed.")
    assert not JobFolder(JOB).alive()
