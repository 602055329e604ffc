# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which replica is changed when, and which is left alone."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.rollout import UNCHANGED, turns


def image(name: str, *digests: str) -> dict[str, Any]:
    return {"id": name, "repo_digests": list(digests), "architecture": "arm64"}


IMAGE = image("sha256:1", "lab/vllm@sha256:a")


def replica(name: str, *hosts: str) -> dict[str, Any]:
    return {"name": name, "hosts": list(hosts), "image": "lab/vllm"}


def host(**values: Any) -> dict[str, Any]:
    """What replica_info says of a host on which nothing is to be done."""
    return {
        "unchanged": True,
        "replace": False,
        "running": [],
        "reasons": [],
        "problems": [],
        "image": IMAGE,
        **values,
    }


def new(**values: Any) -> dict[str, Any]:
    return host(unchanged=False, replace=True, reasons=["there is no container"], **values)


def test_replicas_that_stand_still_start_at_once() -> None:
    found = turns([replica("a-0", "s1"), replica("a-1", "s2")], {"s1": new(), "s2": new()}, ["s1", "s2"])
    assert {name: turn.wave for name, turn in found.items()} == {"s1": 0, "s2": 0}
    assert found["s1"].together == ("s1",)
    assert found["s1"].after == ()


def test_replicas_that_serve_are_changed_one_after_the_other() -> None:
    seen = {"s1": new(running=["a-0"]), "s2": new(running=["a-1"])}
    found = turns([replica("a-0", "s1"), replica("a-1", "s2")], seen, ["s1", "s2"])
    assert (found["s1"].wave, found["s2"].wave) == (0, 1)
    assert found["s2"].after == ("s1",)


def test_the_ones_that_stand_still_go_first() -> None:
    seen = {"s1": new(running=["a-0"]), "s2": new()}
    found = turns([replica("a-0", "s1"), replica("a-1", "s2")], seen, ["s1", "s2"])
    assert (found["s2"].wave, found["s1"].wave) == (0, 1)


def test_an_unchanged_replica_is_left_alone() -> None:
    seen = {"s1": host(running=["a-0"]), "s2": new(running=["a-1"])}
    found = turns([replica("a-0", "s1"), replica("a-1", "s2")], seen, ["s1", "s2"])
    assert found["s1"].wave == UNCHANGED
    assert found["s2"].after == ()


def test_one_changed_rank_changes_the_whole_replica() -> None:
    seen = {"s1": host(running=["a-0"]), "s2": new(running=["a-0"])}
    found = turns([replica("a-0", "s1", "s2")], seen, ["s1", "s2"])
    assert {turn.wave for turn in found.values()} == {0}
    assert found["s1"].replace and found["s2"].replace
    assert found["s1"].together == ("s1", "s2")


def test_an_old_pair_is_given_up_on_both_hosts_at_once() -> None:
    seen = {"s1": new(running=["pair-0"]), "s2": new(running=["pair-0"]), "s3": new(running=["one-0"])}
    found = turns([replica("a-0", "s1"), replica("a-1", "s3"), replica("a-2", "s2")], seen, ["s1", "s2", "s3"])
    assert found["s1"].wave == found["s2"].wave != found["s3"].wave
    assert set(found["s1"].together) == {"s1", "s2"}


def test_two_pairs_in_a_row_are_joined_by_a_third() -> None:
    seen = {name: new(running=[old]) for name, old in (("s1", "p-0"), ("s2", "p-1"), ("s3", "p-0"), ("s4", "p-1"))}
    found = turns([replica("a-0", "s1"), replica("a-1", "s2"), replica("a-2", "s3", "s4")], seen, list(seen))
    assert {turn.wave for turn in found.values()} == {0}


def test_a_host_that_failed_keeps_its_partner_still_and_no_other() -> None:
    replicas = [replica("a-0", "s1", "s2"), replica("a-1", "s3")]
    found = turns(replicas, {"s1": new(), "s2": {}, "s3": new()}, ["s1", "s3"])
    assert found["s1"].problems == ("replica a-0 is left as it is, for s2 failed or cannot be reached",)
    assert (found["s3"].wave, found["s3"].problems) == (0, ())


def test_a10_one_host_failed_before_the_other_still_deploys() -> None:
    found = turns([replica("a-0", "spark-a"), replica("a-1", "spark-b")], {"spark-b": new()}, ["spark-b"])
    assert found["spark-b"].wave == 0
    assert found["spark-a"].problems


def test_problems_of_all_its_hosts_are_named() -> None:
    problem = {"id": "port", "found": "port 29501 held by python3", "wanted": "it free", "remedy": "Stop it"}
    found = turns([replica("a-0", "s1", "s2")], {"s1": new(problems=[problem]), "s2": new()}, ["s1", "s2"])
    assert found["s2"].problems == ("s1: found port 29501 held by python3, wanted it free. Stop it",)
    assert found["s2"].wave == UNCHANGED


def test_d04_ids_may_differ_while_the_digests_agree() -> None:
    one = image("sha256:1111", "acme/vllm@sha256:aaaa")
    other = image("sha256:aaaa", "acme/vllm@sha256:aaaa")
    found = turns([replica("a-0", "s1", "s2")], {"s1": new(image=one), "s2": new(image=other)}, ["s1", "s2"])
    assert found["s1"].problems == ()


def test_n01_ranks_of_different_builds_are_refused() -> None:
    other = image("sha256:2", "lab/vllm@sha256:b")
    found = turns([replica("a-0", "s1", "s2")], {"s1": new(), "s2": new(image=other)}, ["s1", "s2"])
    assert "s2 has another image lab/vllm than s1" in found["s1"].problems[0]


def test_an_image_that_is_still_to_be_pulled_is_compared_later() -> None:
    found = turns([replica("a-0", "s1", "s2")], {"s1": new(), "s2": new(image=None)}, ["s1", "s2"])
    assert found["s1"].problems == ()
