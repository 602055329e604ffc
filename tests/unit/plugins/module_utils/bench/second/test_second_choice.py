# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a second source is asked of a run, and what it is not asked, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import choice
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import (
    made,
    plan,
    suite,
)

SHORT = {"cases": ["short"], "languages": ["en"], "targets": "direct", "concurrency": [1, 4, 8, 16]}


def wanted(*parts: dict[str, Any], around: dict[str, Any] | None = None, **raw: Any) -> dict[str, Any]:
    """What is wanted of a run of these parts."""
    given = {"second_source": "vllm_rs", **raw}
    found: dict[str, Any] = made(suite(*(parts or (SHORT,))), given, plan=around or plan())["second_source"]
    return found


def test_the_fewest_and_the_most_users_up_to_8_of_the_first_case() -> None:
    found = wanted(SHORT, {**SHORT, "cases": ["long"], "concurrency": [2]})
    assert [(one["point"], one["n"], one["requests"]) for one in found["points"]] == [
        ("short-en/chat/direct:main-0/n1", 1, 8),
        ("short-en/chat/direct:main-0/n8", 8, 32),
    ]
    assert {(one["output_tokens"], one["prompt_tokens"]) for one in found["points"]} == {(128, 128)}
    assert len({one["seed"] for one in found["points"]}) == 2
    assert found["notes"] == []


def test_the_engine_is_asked_in_its_own_container_on_its_own_host() -> None:
    around = plan()
    found, rank = wanted(around=around), around["ranks"]["spark1"]
    assert found["host"] == "spark1"
    assert (found["container"], found["image"]) == (rank["container"]["name"], rank["container"]["image"])
    assert (found["url"], found["served_model_name"]) == (rank["api"], "org/m")
    assert (found["folder"], found["revision"]) == ("/models/hub/models--org--m", "main")


@pytest.mark.parametrize(
    ("variables", "folder", "revision"),
    [
        ({"serving_model_revision": "v2"}, "/models/hub/models--org--m", "v2"),
        ({"serving_model": "/srv/models/tiny"}, "/models/tiny", ""),
        ({"serving_model_hub": "modelscope"}, "/models/org--m", ""),
    ],
)
def test_where_the_tokenizer_lies(variables: dict[str, str], folder: str, revision: str) -> None:
    found = wanted(around=plan(**variables))
    assert (found["folder"], found["revision"]) == (folder, revision)


def test_each_run_has_its_own_prompts() -> None:
    order = made(suite(SHORT))["order"]
    other = {**order, "run": {**order["run"], "nonce": "another"}}
    seeds = [{one["seed"] for one in choice.points_of(each, "main-0")} for each in (order, other)]
    assert not seeds[0] & seeds[1]


@pytest.mark.parametrize(
    "part",
    [
        {**SHORT, "concurrency": [16]},
        {**SHORT, "targets": "gateway"},
        {**SHORT, "stream": False},
        {**SHORT, "endpoints": ["completions"]},
        {**SHORT, "cases": ["talk"]},
        {"cases": ["short"], "languages": ["en"], "targets": "direct", "load": "ladder", "to": 8},
        {"cases": ["short"], "languages": ["en"], "targets": "direct", "load": "series", "requests": 9},
    ],
    ids=["users", "gateway", "whole", "completions", "conversation", "ladder", "series"],
)
def test_what_it_cannot_ask_alike_is_not_asked(part: dict[str, Any]) -> None:
    around = plan(gateway_enabled=True) if part["targets"] == "gateway" else plan()
    note = (
        "vllm-rs was not asked: the suite try measures no replica directly with streamed chats of a fixed length, "
        "cold, and up to 8 users. Add direct to benchmark_targets, or choose quick."
    )
    assert wanted(part, around=around) == choice.nothing(note)


def test_tls_is_not_asked() -> None:
    around = plan()
    around["ranks"]["spark1"]["api"] = "https://127.0.0.1:8000"
    assert wanted(around=around) == choice.nothing(
        "vllm-rs was not asked: main-0 is at https://127.0.0.1:8000, wanted a replica without TLS. "
        "Compare it by hand: vllm-rs bench serve --insecure."
    )


def test_a_run_that_deploys_says_so_once_and_not_in_each_block() -> None:
    swept = {"sweep_setting": "max_num_seqs", "sweep_values": [8, 16]}
    found = wanted(**swept)
    assert found["points"] == []
    assert found["notes"][0].startswith("vllm-rs was not asked: this run deploys in turn what it measures.")
    assert wanted(block="max_num_seqs-8") == choice.nothing()


def test_unless_it_is_wished_nothing_is_asked() -> None:
    assert wanted(second_source="none") == choice.nothing()


def test_prompts_are_as_long_as_those_that_were_measured() -> None:
    points = [
        {"id": "short-en/chat/direct:main-0/n1", "summary": {"prompt_tokens": {"p50": 141.0}}},
        {"id": "short-en/chat/direct:main-0/n8", "summary": {"prompt_tokens": {"p50": None}}},
    ]
    asked = choice.with_prompts(wanted(), points)["points"]
    assert [(one["n"], one["prompt_tokens"]) for one in asked] == [(1, 141), (8, 128)]
    assert choice.with_prompts(wanted(), [])["points"] == []
