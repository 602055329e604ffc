# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof that an engine generates."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import proof
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.proof import Prover, prove
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.state import Run
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.fake_engine import FakeEngine

LIMIT = 60.0  # seconds until a wait counts as failed
FIRST, SECOND = Run("id", "1"), Run("id", "2")


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    engine = FakeEngine()
    yield engine
    engine.close()


def test_one_token_of_the_served_name(engine: FakeEngine) -> None:
    assert prove(Engine(engine.api), "tiny") == ""
    assert engine.asked == ["/v1/models", "/v1/completions"]
    assert [(wish["model"], wish["max_tokens"]) for wish in engine.wishes] == [("tiny", 1)]


def test_a_spec_without_a_name_asks_for_the_first(engine: FakeEngine) -> None:
    assert prove(Engine(engine.api), "") == ""
    assert engine.wishes[0]["model"] == "tiny"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"names": ["other", "more"]}, "the engine serves other, more, wanted tiny"),
        ({"names": []}, "the engine serves no model, wanted tiny"),
        ({"statuses": {"/v1/completions": 500}}, "the first generation failed: HTTP 500: no /v1/completions"),
        ({"tokens": 0}, "the first generation failed: the answer has no token"),
    ],
)
def test_an_engine_that_is_not_proven(engine: FakeEngine, changes: dict[str, Any], words: str) -> None:
    for name, value in changes.items():
        setattr(engine, name, value)
    assert prove(Engine(engine.api), "tiny") == words


def test_g08_health_is_200_while_the_models_are_not_there(engine: FakeEngine) -> None:
    engine.statuses["/v1/models"] = 503
    assert Engine(engine.api).ask("/health", 5)[0] == 200
    assert prove(Engine(engine.api), "tiny") == "the engine does not say which models it serves: HTTP 503"
    assert engine.wishes == []


def test_n10_a_generation_that_never_comes(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "GENERATION_TIMEOUT", 0.1)
    engine.held = {"/v1/completions"}
    words = prove(Engine(engine.api), "tiny")
    assert words.startswith("the first generation failed: ")
    assert "timed out" in words or "no whole answer within" in words


def test_an_engine_that_is_not_there(engine: FakeEngine) -> None:
    engine.close()
    words = "the engine does not say which models it serves: Connection refused"
    assert prove(Engine(engine.api), "tiny") == words


def test_g13_the_key_goes_to_models_and_generation_and_a_wrong_one_is_named(engine: FakeEngine, tmp_path: Path) -> None:
    key = tmp_path / "engine.key"
    engine.key = "right"
    refused = "the engine refuses our key (401): wrong or missing key"
    assert prove(Engine(engine.api), "tiny") == refused
    assert prove(Engine(engine.api, str(key)), "tiny") == f"{refused} in {key}"
    key.write_text("wrong\n")
    words = prove(Engine(engine.api, str(key)), "tiny")
    assert words == f"{refused} in {key}"
    assert "down" not in words
    key.write_text("right\n")
    assert prove(Engine(engine.api, str(key)), "tiny") == ""


def test_each_run_is_proven_once(engine: FakeEngine) -> None:
    tried = threading.Semaphore(0)
    prover = Prover(Engine(engine.api), "tiny", None, tried.release)
    prover.begin()
    for run in (FIRST, FIRST, None, FIRST, SECOND):
        prover.want(run)
        if run is not None and prover.proven() != run:
            assert tried.acquire(timeout=LIMIT)
        assert run is None or prover.proven() == run
    assert engine.count("/v1/completions") == 2


def test_a_run_that_was_proven_before_is_not_asked_again(engine: FakeEngine) -> None:
    tried = threading.Semaphore(0)
    prover = Prover(Engine(engine.api), "tiny", FIRST, tried.release)
    prover.begin()
    prover.want(FIRST)
    assert prover.proven() == FIRST
    prover.want(SECOND)
    assert tried.acquire(timeout=LIMIT)
    assert (prover.proven(), engine.count("/v1/completions")) == (SECOND, 1)


def test_a_try_that_fails_is_repeated_and_a_new_run_begins_without_its_words(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "AGAIN", 0.01)
    engine.statuses["/v1/completions"] = 500
    tried = threading.Semaphore(0)
    prover = Prover(Engine(engine.api), "tiny", None, tried.release)
    prover.begin()
    prover.want(FIRST)
    assert tried.acquire(timeout=LIMIT)
    assert "HTTP 500" in prover.failure()
    prover.want(None)
    assert prover.failure() == ""
    engine.statuses.clear()
    prover.want(FIRST)
    while prover.proven() != FIRST:
        assert tried.acquire(timeout=LIMIT)
