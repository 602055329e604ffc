# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused of an order before anything is asked of a server."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.order_check import order_faults
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import CASE, order, spec

TARGET = order()["targets"][0]


def changed(**more: Any) -> list[Any]:
    return [spec(**more)]


def closed(**more: Any) -> list[Any]:
    return changed(load={"model": "closed", "n": 4, "requests": 12, "min_s": 0.0, **more})


@pytest.mark.parametrize("load", [
    {"model": "closed", "n": 1024, "requests": 1, "min_s": 0.0},
    {"model": "open", "rate": 0.5, "share": None, "requests": 1},
    {"model": "open", "rate": None, "share": 0.5, "requests": 1},
    {"model": "series", "n": 1, "requests": 3},
])  # fmt: skip
def test_a_sound_order(load: dict[str, Any]) -> None:
    assert order_faults(order(rounds=[spec(load=load)])) == []


@pytest.mark.parametrize(
    ("more", "place", "found"),
    [
        ({"rounds": []}, "order.rounds", "none"),
        ({"rounds": changed(round_id="../x")}, "order.rounds[0].id", "'../x'"),
        ({"rounds": [spec(), spec()]}, "order.rounds", "'0001' more than once"),
        ({"rounds": changed(target="main-9")}, "order.rounds[0].target", "'main-9'"),
        ({"rounds": changed(case="none.en")}, "order.rounds[0].case", "'none.en'"),
        ({"rounds": changed(endpoint="embeddings")}, "order.rounds[0].endpoint", "'embeddings'"),
        ({"rounds": changed(load={"model": "burst"})}, "order.rounds[0].load.model", "'burst'"),
        ({"rounds": closed(n=0)}, "order.rounds[0].load.n", "0"),
        ({"rounds": closed(n=1025)}, "order.rounds[0].load.n", "1025"),
        ({"rounds": closed(requests=0)}, "order.rounds[0].load.requests", "0"),
        ({"rounds": closed(min_s=-1)}, "order.rounds[0].load.min_s", "-1"),
        ({"rounds": changed(load={"model": "open", "rate": None, "requests": 3})}, "order.rounds[0].load.rate",
         "nothing"),
        ({"rounds": changed(load={"model": "open", "rate": -2, "requests": 3})}, "order.rounds[0].load.rate", "-2"),
        ({"targets": [{**TARGET, "url": "s1:8000"}]}, "order.targets[0].url", "'s1:8000'"),
        ({"targets": [{**TARGET, "served_model_name": ""}]}, "order.targets[0].served_model_name", "nothing"),
        ({"targets": [TARGET, TARGET]}, "order.targets", "'gateway' more than once"),
        ({"cases": [CASE, CASE]}, "order.cases", "'short.en' more than once"),
        ({"limits": {"connect_s": 5, "ttft_s": 0, "idle_s": 1, "total_s": 1}}, "order.limits.ttft_s", "0"),
        ({"limits": {"connect_s": 5, "idle_s": 1, "total_s": 1}}, "order.limits.ttft_s", "nothing"),
    ],
)  # fmt: skip
def test_fault(more: dict[str, Any], place: str, found: str) -> None:
    (fault,) = order_faults(order(**more))
    assert (fault.variable, fault.found) == (place, found)


def test_a_key_in_the_place_of_its_file_is_refused_and_not_shown() -> None:
    engine = {"replica": "main-0", "url": "http://s1:8000", "key_file": "sk-other-secret"}
    faults = order_faults(order(targets=[{**TARGET, "key_file": "sk-secret", "engines": [engine]}]))
    assert [fault.variable for fault in faults] == [
        "order.targets[0].key_file",
        "order.targets[0].engines[0].key_file",
    ]
    assert "secret" not in repr(faults)


def test_all_faults_come_at_once_and_no_order_is_one_of_them() -> None:
    assert len(order_faults(order(rounds=changed(target="x", case="y", endpoint="z")))) == 3
    (fault,) = order_faults({})
    assert fault.found == "no run, targets, cases, rounds, limits, goodput"
