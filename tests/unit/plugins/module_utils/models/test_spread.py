# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of who gets a model from whom."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models.spread import View, decide, offers, view

FOUND: dict[str, Any] = {
    "hub": "huggingface",
    "model": "acme/tiny",
    "problems": [],
    "fingerprint": "aaaa",
    "size": 35_000_000_000,
}
GONE = {**FOUND, "problems": ["no folder x"], "fingerprint": "", "size": 0}


def seen(
    host: str, found: dict[str, Any] | None = None, hashed: dict[str, Any] | None = None, revision: str = ""
) -> View:
    return view(host, revision, found or FOUND, hashed or {})


def test_all_have_it() -> None:
    spread = decide([seen("s1"), seen("s2")], download=True)
    assert (spread.steps, spread.sources, spread.refused, spread.words) == ({"s1": "", "s2": ""}, {}, {}, [])


def test_it_is_copied_from_one_that_has_it() -> None:
    spread = decide([seen("s1", GONE), seen("s2"), seen("s3", GONE), seen("s4")], download=False)
    assert spread.steps == {"s1": "receive", "s2": "source", "s3": "receive", "s4": ""}
    assert spread.sources == {"s1": "s2", "s3": "s2"}
    assert spread.words == ["acme/tiny, 35.0 GB, is copied from s2 to s1, s3"]


def test_it_is_downloaded_once_where_most_of_it_is() -> None:
    spread = decide([seen("s1", GONE), seen("s2", {**GONE, "size": 5})], download=True)
    assert spread.steps == {"s1": "", "s2": "download"}
    assert spread.words == ["acme/tiny is in no cache: s2 downloads it"]


@pytest.mark.parametrize(
    ("found", "download", "remedy"),
    [
        (GONE, False, "-e model_download=true"),
        ({**GONE, "hub": "path", "model": "/srv/tiny"}, True, "Copy the folder to one of the hosts"),
    ],
)
def test_nobody_has_it(found: dict[str, Any], download: bool, remedy: str) -> None:
    refused = decide([seen("s1", found), seen("s2", found)], download).refused
    assert list(refused) == ["s1", "s2"]
    assert "no folder x" in refused["s1"]
    assert remedy in refused["s1"]


def test_models_are_apart() -> None:
    other = {**FOUND, "model": "acme/other"}
    spread = decide([seen("s1"), seen("s2", {**other, "problems": ["x"]}), seen("s3", other)], download=False)
    assert spread.sources == {"s2": "s3"}
    spread = decide([seen("s1"), seen("s2", GONE, revision="v2"), seen("s3", revision="v2")], download=False)
    assert spread.sources == {"s2": "s3"}
    assert spread.words[0].startswith("acme/tiny at v2, ")


def test_the_files_that_most_have_are_right() -> None:
    spread = decide([seen("s1", {**FOUND, "fingerprint": "bbbb"}), seen("s2"), seen("s3")], download=False)
    assert spread.sources == {"s1": "s2"}


def test_of_two_sets_of_files_the_user_says_which_is_right() -> None:
    views = [seen("s1"), seen("s2", {**FOUND, "fingerprint": "bbbb"}), seen("s3", GONE)]
    spread = decide(views, download=True)
    assert list(spread.refused) == ["s1", "s2", "s3"]
    assert "aaaa on s1; bbbb on s2" in spread.refused["s3"]
    assert "model_from=HOST" in spread.refused["s3"]
    assert decide(views, download=True, truth="s2").sources == {"s1": "s2", "s3": "s2"}


def test_who_is_named_but_has_it_not_gives_nothing() -> None:
    spread = decide([seen("s1", GONE), seen("s2")], download=True, truth="s1")
    assert spread.refused["s2"].startswith("model acme/tiny is to come from s1, where it is not whole.")
    assert "no folder x" in spread.refused["s1"]


def test_of_a_named_host_that_serves_another_model_nothing_is_asked() -> None:
    other = {**FOUND, "model": "acme/other"}
    assert decide([seen("s1", other), seen("s2"), seen("s3", GONE)], False, truth="s1").sources == {"s3": "s2"}


def test_content_that_is_wrong_is_copied_again() -> None:
    whole, flipped = {"digest": "d1", "wrong": []}, {"digest": "d2", "wrong": ["blobs/w"]}
    spread = decide([seen("s1", FOUND, flipped), seen("s2", FOUND, whole)], download=False)
    assert spread.sources == {"s1": "s2"}
    refused = decide([seen("s1", FOUND, flipped), seen("s2", GONE)], download=False).refused
    assert "wrong content of blobs/w" in refused["s1"]


def test_what_is_wrong_everywhere_is_downloaded_again() -> None:
    flipped = {"digest": "d2", "wrong": ["blobs/w"]}
    assert decide([seen("s1", FOUND, flipped)], download=True).steps == {"s1": "download"}


def test_hosts_that_are_not_to_be_compared_need_not_be_alike() -> None:
    views = [view("s1", "", FOUND, {}, False), view("s2", "", {**FOUND, "fingerprint": "bbbb"}, {}, False)]
    assert decide(views, download=True).steps == {"s1": "", "s2": ""}


def test_what_the_copy_is_told() -> None:
    def hashed(digest: str, content: str) -> dict[str, Any]:
        return {
            "digest": digest,
            "wrong": [],
            "manifest": {"entries": [{"path": "w", "sha256": content}, {"path": "l"}]},
        }

    said = {"s1": hashed("d1", "aa"), "s2": hashed("d1", "aa"), "s3": hashed("d2", "bb")}
    views = [view(host, "", FOUND, one) for host, one in said.items()] + [seen("s4", GONE)]
    found = offers(decide(views, download=False), views, dict.fromkeys(["s1", "s2", "s3", "s4"], "/hub"), said)
    assert {host: (one["source"], one["distrust"]) for host, one in found.items()} == {
        "s1": (True, []),
        "s3": (False, ["w"]),
        "s4": (False, []),
    }
    assert found["s4"]["what"] == "model acme/tiny"
    assert len({one["key"] for one in found.values()}) == 1


def test_a_download_that_failed_is_told_to_those_that_waited_for_it() -> None:
    waiting = seen("s2", GONE)
    refused = decide([waiting], download=False, lost={waiting.key: "s1"}).refused
    assert refused == {"s2": "model acme/tiny is not whole here, and its download on s1 has failed, which says why."}
    assert "-e model_download=true" in decide([waiting], download=False, lost={"another": "s1"}).refused["s2"]
