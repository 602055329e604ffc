# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks become one run: names, ids, and the rounds of one point."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites import block_rounds
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.block_rounds import Measured
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError

RUN = {"id": "20261130T101500Z-layout", "suite": "layout", "seed": 1}


def block(variant: str, digest: str = "sha256:1", image: str = "sha256:i", at: float = 0.0) -> Measured:
    """A block with a warm-up and a measured round of one point."""
    rounds: list[dict[str, Any]] = [
        {"id": f"{number:04d}", "point": "short/chat/gateway/n4", "case": "short", "target": "gateway", "round": number}
        | {"warmup": number == 0, "block": "", "began": at + number, "requests": [{"id": 0}], "summary": {}}
        for number in range(2)
    ]
    specs = [{key: one[key] for key in ("id", "point", "case", "target", "round", "warmup", "block")} for one in rounds]
    order = {
        "run": {"id": f"block-{variant}"},
        "targets": [{"name": "gateway", "via": "gateway", "deployment": "main", "hosts": ["spark1", "spark2"]}],
        "cases": [{"name": "short", "language": "en", "digest": digest}],
        "rounds": specs,
        "limits": {"connect_s": 10},
    }
    seen = {"before": {"t": at}, "during": [{"t": at + 1}], "after": None, "cost": {"cpu_s": 0.5, "seconds": 60.0}}
    result = {
        "deployments": [{"id": "main", "image_digest": image, "tensor_parallel_size": 1}],
        "snapshots": {"spark1": seen},
        "hosts": {"spark1": {"os": "DGX OS", "at": at}},
    }
    return Measured(variant, order, rounds, result)


ABBA = [block("tp1", at=0), block("tp2", at=10), block("tp2", at=20), block("tp1", at=30)]


def test_rounds_of_all_blocks_are_rounds_of_their_variants_points() -> None:
    order, rounds = block_rounds.merged_rounds(ABBA, RUN)
    assert [one["id"] for one in rounds] == [f"{number:04d}" for number in range(1, 9)]
    of_tp1 = [one for one in rounds if one["point"] == "tp1: short/chat/gateway/n4"]
    assert [(one["round"], one["warmup"], one["block"], one["began"]) for one in of_tp1] == [
        (0, True, "A", 0.0),
        (1, False, "A", 1.0),
        (2, True, "A", 30.0),
        (3, False, "A", 31.0),
    ]
    assert {one["target"] for one in rounds} == {"tp1: gateway", "tp2: gateway"}
    assert all(one["requests"] for one in rounds)
    assert order["run"] == RUN
    assert order["limits"] == {"connect_s": 10}
    assert [spec["id"] for spec in order["rounds"]] == [one["id"] for one in rounds]
    assert not any("requests" in spec for spec in order["rounds"])


def test_targets_and_deployments_are_the_variants_own() -> None:
    order, _rounds = block_rounds.merged_rounds(ABBA, RUN)
    assert [(one["name"], one["deployment"], one["variant"], one["like"]) for one in order["targets"]] == [
        ("tp1: gateway", "tp1", "tp1", "gateway"),
        ("tp2: gateway", "tp2", "tp2", "gateway"),
    ]
    assert [one["id"] for one in block_rounds.merged_deployments(ABBA)] == ["tp1", "tp2"]
    assert block_rounds.changed_deployments(ABBA) == []


def direct(variant: str, replica: str) -> Measured:
    """A block that asks a replica by itself, too."""
    made = block(variant)
    made.order["targets"].append({"name": replica, "via": "direct", "deployment": "main"})
    made.order["pairs"] = [{"name": f"gateway / {replica}", "a": "gateway", "b": replica}]
    return made


def test_like_stands_against_like() -> None:
    order, _rounds = block_rounds.merged_rounds([direct("mp", "main-0"), direct("ray", "main-0")], RUN)
    assert [tuple(pair.values()) for pair in order["pairs"]] == [
        ("ray / mp: gateway", "ray: gateway", "mp: gateway"),
        ("ray / mp: main-0", "ray: main-0", "mp: main-0"),
        ("mp: gateway / main-0", "mp: gateway", "mp: main-0"),
        ("ray: gateway / main-0", "ray: gateway", "ray: main-0"),
    ]


def test_entries_of_layouts_stand_against_each_other_whatever_their_names() -> None:
    # One replica of two hosts has no gateway before it.
    pair = direct("tp2", "tp2-0")
    pair.order["targets"].pop(0)
    pair.order["pairs"].clear()
    for one in (*pair.order["rounds"], *pair.rounds):
        one["target"] = "tp2-0"
    order, rounds = block_rounds.merged_rounds([block("tp1"), pair], RUN)
    assert order["pairs"] == [{"name": "tp2 / tp1: tp2-0 / gateway", "a": "tp2: tp2-0", "b": "tp1: gateway"}]
    assert {one["deployment"] for one in rounds} == {"tp1", "tp2"}


def test_a_block_without_targets_stands_against_nothing() -> None:
    empty = block("tp2")
    for key in ("targets", "rounds"):
        empty.order[key].clear()
    empty.rounds.clear()
    order, _rounds = block_rounds.merged_rounds([block("tp1"), empty], RUN)
    assert order["pairs"] == []


def test_layouts_with_a_gateway_each_are_compared_by_it() -> None:
    order, _rounds = block_rounds.merged_rounds([direct("tp1", "tp1-0"), direct("tp2", "tp2-0")], RUN)
    assert [pair["name"] for pair in order["pairs"]] == [
        *("tp2 / tp1: gateway", "tp1: gateway / tp1-0", "tp2: gateway / tp2-0"),
    ]


def test_several_deployments_of_a_variant_keep_their_names() -> None:
    two = block("both")
    two.result["deployments"].append({"id": "chat"})
    assert [one["id"] for one in block_rounds.merged_deployments([two])] == ["both: main", "both: chat"]


def test_a_variant_that_changed_between_its_blocks_is_named() -> None:
    (words,) = block_rounds.changed_deployments([block("tp1"), block("tp1", image="sha256:other")])
    assert words == "tp1 was not the same in all blocks: image_digest was sha256:i, then sha256:other."


def test_blocks_of_different_cases_are_no_run() -> None:
    with pytest.raises(ConfigurationError, match=r"case short \(en\): found sha256:2 in a block of tp2"):
        block_rounds.merged_rounds([block("tp1"), block("tp2", digest="sha256:2")], RUN)


def test_samples_and_costs_of_all_blocks_are_one_series() -> None:
    seen = block_rounds.merged_snapshots(ABBA)["spark1"]
    assert [sample["t"] for sample in seen["samples"]] == [0, 1, 10, 11, 20, 21, 30, 31]
    assert seen["cost"] == {"cpu_s": 2.0, "seconds": 240.0}
    assert (seen["clock_offset_s"], seen["disk"]) == (None, {"before": None, "after": None})
    assert block_rounds.merged_hosts(ABBA) == {"spark1": {"os": "DGX OS", "at": 30}}


def test_the_clock_that_was_off_and_the_disks_of_the_blocks_are_kept() -> None:
    seen = [
        {"clock_offset_s": 90.0, "disk": {"before": {"/": {"free": 5, "total": 9}}, "after": None}},
        {"clock_offset_s": 0.0, "disk": {"before": None, "after": {"/": {"free": 4, "total": 9}}}},
    ]
    blocks = [Measured("tp1", {}, (), {"snapshots": {"spark1": one}}) for one in seen]
    found = block_rounds.merged_snapshots(blocks)["spark1"]
    assert found["clock_offset_s"] == 90.0
    assert found["disk"] == {"before": {"/": {"free": 5, "total": 9}}, "after": {"/": {"free": 4, "total": 9}}}


def test_the_self_test_of_the_first_block_that_has_one_is_that_of_the_run() -> None:
    one, two, three = (dict(each.result) for each in ABBA[:3])
    one["tool"], two["tool"], three["tool"] = ({"self_test": test} for test in (None, {"tokens": 2}, {"tokens": 3}))
    tried = [Measured("tp1", {}, (), result) for result in (one, two, three)]
    assert block_rounds.first_self_test(tried) == {"tokens": 2}
    assert block_rounds.first_self_test(tried[:1]) is None
    assert block_rounds.first_self_test(ABBA) is None


def test_nothing_measured_is_an_empty_run() -> None:
    order, rounds = block_rounds.merged_rounds([], RUN)
    assert (order["rounds"], order["targets"], rounds) == ([], [], [])
