# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case files: what is read from a good one, and every fault of a bad one, all at once."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases import case


def document(**more: Any) -> dict[str, Any]:
    """A good case file, changed; None takes a key away."""
    good = {
        "name": "short-en",
        "language": "en",
        "description": "A short one.",
        "prompt_tokens": 128,
        "output": {"mode": "fixed", "tokens": 64},
        "cache": "cold",
        "prompts": ["Why?", "How?"],
    }
    return {key: value for key, value in {**good, **more}.items() if value is not None}


def faults(**more: Any) -> list[tuple[str, str]]:
    """Place and found of each fault of a bad one."""
    read, found = case.read_case(document(**more), "f.yml")
    assert read is None
    assert all(fault.wanted and fault.remedy for fault in found)
    return [(fault.variable, fault.found) for fault in found]


def test_a_good_case_is_plain_data_with_a_digest() -> None:
    read, found = case.read_case(document(), "f.yml")
    assert found == []
    assert read == {
        "name": "short-en",
        "language": "en",
        "description": "A short one.",
        "prompt_tokens": 128,
        "output": {"mode": "fixed", "tokens": 64},
        "cache": "cold",
        "max_share_cached": 0.01,
        "shared_prefix": False,
        "prompts": ["Why?", "How?"],
        "digest": case.digest_of(read or {}),
    }
    assert str(read["digest"]).startswith("sha256:")


@pytest.mark.parametrize(
    ("more", "most"),
    [
        pytest.param({}, 0.01, id="cold"),
        pytest.param({"max_share_cached": 0.2}, 0.2, id="as it says"),
        pytest.param({"cache": "warm"}, None, id="warm"),
        pytest.param({"prompts": None, "conversations": [["Why?"], ["How?"]]}, 0.01, id="one turn repeats nothing"),
        pytest.param({"prompts": None, "conversations": [["Why?"], ["How?", "And then?"]]}, None, id="turns do"),
        pytest.param(
            {"prompts": None, "conversations": [["Why?", "And?"]], "max_share_cached": 0.5}, 0.5, id="turns as it says"
        ),
    ],
)
def test_how_much_of_a_case_may_be_cached(more: dict[str, Any], most: float | None) -> None:
    read, found = case.read_case(document(**more), "f.yml")
    assert found == []
    assert read is not None
    assert read["max_share_cached"] == most


def test_the_digest_is_of_the_content_alone() -> None:
    first = case.read_case(document(), "a.yml")[0] or {}
    turned = case.read_case(dict(reversed(document().items())), "b.yml")[0] or {}
    other = case.read_case(document(prompts=["Why?", "When?"]), "a.yml")[0] or {}
    assert first["digest"] == turned["digest"] != other["digest"]


@pytest.mark.parametrize("found", [None, "short", ["short"], 3])
def test_a_file_that_is_not_a_case(found: Any) -> None:
    read, (fault,) = case.read_case(found, "f.yml")
    assert read is None
    assert fault.variable == "f.yml"
    assert fault.wanted.startswith("a mapping with name")


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"name": "Short-en"}, "f.yml.name"),
        ({"name": "short"}, "f.yml.name"),
        ({"name": None}, "f.yml.name"),
        ({"language": "de"}, "f.yml.language"),
        ({"language": ["en"]}, "f.yml.language"),
        ({"description": " "}, "f.yml.description"),
        ({"prompt_tokens": 0}, "f.yml.prompt_tokens"),
        ({"prompt_tokens": 131073}, "f.yml.prompt_tokens"),
        ({"prompt_tokens": "128"}, "f.yml.prompt_tokens"),
        ({"prompt_tokens": True}, "f.yml.prompt_tokens"),
        ({"output": None}, "f.yml.output"),
        ({"output": 128}, "f.yml.output"),
        ({"output": {"mode": "forced", "tokens": 8}}, "f.yml.output.mode"),
        ({"output": {"mode": "fixed", "tokens": 0}}, "f.yml.output.tokens"),
        ({"output": {"mode": "fixed", "tokens": 131073}}, "f.yml.output.tokens"),
        ({"output": {"mode": "fixed", "tokens": 8, "token": 8}}, "f.yml.output.token"),
        ({"cache": "hot"}, "f.yml.cache"),
        ({"max_share_cached": 2}, "f.yml.max_share_cached"),
        ({"shared_prefix": "yes"}, "f.yml.shared_prefix"),
        ({"shared_prefix": True}, "f.yml.shared_prefix"),
        ({"prompts": []}, "f.yml.prompts"),
        ({"prompts": "Why?"}, "f.yml.prompts"),
        ({"prompts": ["Why?", 3]}, "f.yml.prompts[1]"),
        ({"prompts": ["Why?", " "]}, "f.yml.prompts[1]"),
        ({"prompts": None}, "f.yml"),
        ({"conversations": [["Why?"]]}, "f.yml"),
        ({"prompts": None, "conversations": "Why?"}, "f.yml.conversations"),
        ({"prompts": None, "conversations": [["Why?"], []]}, "f.yml.conversations[1]"),
        ({"name": "short-zh"}, "f.yml.name"),
    ],
)
def test_each_fault_names_its_place(more: dict[str, Any], place: str) -> None:
    assert [where for where, _found in faults(**more)] == [place]


def test_all_faults_at_once_and_the_likely_meant_key() -> None:
    read, found = case.read_case(document(promts=["Why?"], prompt_tokens=-1, cache="no"), "f.yml")
    assert read is None
    assert [(fault.variable, fault.wanted) for fault in found][:1] == [("f.yml.promts", "prompts")]
    assert [fault.variable for fault in found] == ["f.yml.promts", "f.yml.prompt_tokens", "f.yml.cache"]


def test_smaller_sizes_give_another_digest() -> None:
    read = case.read_case(document(), "f.yml")[0] or {}
    assert case.with_sizes(read, None, None) == read
    assert case.with_sizes(read, 4096, None) == read  # filled up no further than the case wants
    small = case.with_sizes(read, 32, 8)
    assert (small["prompt_tokens"], small["output"]["tokens"]) == (32, 8)
    assert small["digest"] != read["digest"]
    assert small["digest"] == case.digest_of(small)
    assert (read["prompt_tokens"], read["output"]["tokens"]) == (128, 64)


def test_a_prompt_of_its_own_length_is_not_filled() -> None:
    read = case.read_case(document(prompt_tokens=None), "f.yml")[0] or {}
    assert case.with_sizes(read, 32, None)["prompt_tokens"] is None
