# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which snapshot is meant."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import snapshot

A, B = "aaaa1111" + "0" * 32, "aaaa1112" + "0" * 32
REFS = {"main": A, "v1": B, "pr/1": "gone"}


@pytest.mark.parametrize(
    ("revision", "refs", "snapshots", "name"),
    [
        ("", REFS, [A, B], A),
        ("", {}, [B], B),
        ("v1", REFS, [A, B], B),
        (B, REFS, [A, B], B),
        ("aaaa1112", REFS, [A, B], B),
        ("", {}, ["main", "other"], "main"),
    ],
    ids=["main", "the only one", "tag", "commit", "part of a commit", "a folder named as the branch"],
)
def test_chosen(revision: str, refs: dict[str, str], snapshots: list[str], name: str) -> None:
    choice = snapshot.choose(revision, refs, snapshots, ("main",))
    assert (choice.name, choice.problem) == (name, "")


@pytest.mark.parametrize(
    ("revision", "refs", "snapshots", "problem"),
    [
        ("", {}, [], "no snapshot"),
        (
            "",
            {},
            [B, A],
            f"nothing says which of 2 snapshots is main (set serving_model_revision to one of {A}, {B})",
        ),
        ("", {"main": "gone"}, [A], f"refs/main names snapshot gone, which is not there: there is {A}"),
        ("", {"main": ""}, [], "refs/main names snapshot (nothing), which is not there: there is none"),
        ("pr/1", REFS, [A], f"refs/pr/1 names snapshot gone, which is not there: there is {A}"),
        ("aaaa111", REFS, [A, B], f"revision aaaa111 may be any of {A}, {B} (set serving_model_revision to one)"),
        ("aaaa11", REFS, [A], f"no revision aaaa11: there is {A}"),
        ("nope", {}, list("abcdefg"), "no revision nope: there is a, b, c, d, e and 2 more"),
        ("nope", {}, [], "no revision nope: there is no snapshot"),
    ],
)
def test_not_chosen(revision: str, refs: dict[str, str], snapshots: list[str], problem: str) -> None:
    assert snapshot.choose(revision, refs, snapshots, ("main",)) == snapshot.Choice(problem=problem)


def test_the_only_snapshot_is_noted() -> None:
    assert (
        snapshot.choose("", {}, ["abc"], ("main",)).note
        == "nothing says which snapshot is main, so the only one is taken: abc"
    )


def test_branches_count_in_their_order() -> None:
    assert snapshot.choose("", {}, ["main", "master"], ("master", "main")).name == "master"
