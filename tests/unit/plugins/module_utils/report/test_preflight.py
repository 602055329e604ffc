# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings of a preflight over all hosts."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.report import preflight

SWAP = warned("memory.swap", "/swap.img is on", "no swap", "Run the playbook prepare.")
MTU = failed("network.mtu", "MTU 1500 on enp1s0f0np0", "9000", "Run: ip link set enp1s0f0np0 mtu 9000")
PLAN = failed("plan.configuration", "no model", "one", "Correct it.")
GOOD = passed("docker.engine", "28.0")
NOTHING = skipped("network.gid_index", "not set")
HOSTS = ["a", "b", "c"]
REPLICAS = [{"name": "big-0", "hosts": ["a", "b"]}, {"name": "small-0", "hosts": ["c"]}]
CHECKS: list[tuple[str, Check]] = [("a", GOOD), ("b", MTU), ("a", SWAP), ("b", SWAP), ("c", NOTHING), ("c", GOOD)]


def found(*, ignore: tuple[str, ...] = (), strict: bool = False, more: tuple[tuple[str, Check], ...] = ()) -> list:
    return preflight.findings([*CHECKS, *more], HOSTS, ignore, strict)


def test_hosts_and_checks_are_in_order() -> None:
    assert [(one.host, one.check.id) for one in found()] == [
        ("a", "memory.swap"),
        ("a", "docker.engine"),
        ("b", "memory.swap"),
        ("b", "network.mtu"),
        ("c", "docker.engine"),
        ("c", "network.gid_index"),
    ]


def test_a10_hosts_without_a_fault_go_on_but_not_those_who_share_a_replica_with_one() -> None:
    refused = preflight.refusals(found(), HOSTS, REPLICAS)
    assert list(refused) == ["b", "a"]
    assert "1. network.mtu: MTU 1500 on enp1s0f0np0, wanted 9000. Run: ip link set" in refused["b"]
    assert refused["a"] == "a: replica big-0 is left as it is, for the preflight failed on b."


@pytest.mark.parametrize(
    ("ignore", "strict", "refused"),
    [
        (("network.mtu",), False, set()),
        ((), True, {"a", "b"}),
        (("memory.swap", "network.mtu"), True, set()),
    ],
)
def test_ignored_and_strict(ignore: tuple[str, ...], strict: bool, refused: set[str]) -> None:
    assert set(preflight.refusals(found(ignore=ignore, strict=strict), HOSTS, REPLICAS)) == refused


def test_what_passes_is_never_called_ignored() -> None:
    assert preflight.counts(found(ignore=("docker.engine",)))["passed"] == 2


def test_a_fault_of_all_is_a_fault_of_each() -> None:
    everything = found(more=(("", PLAN),))
    assert preflight.failed_hosts(everything, HOSTS) == HOSTS
    assert "plan.configuration: no model" in preflight.refusals(everything, HOSTS, [])["c"]


def test_the_table_has_what_is_not_well_and_the_same_remedy_once() -> None:
    text = "\n".join(preflight.lines(found(), everything=False))
    assert "docker.engine" not in text
    assert "b     network.mtu  FAIL    MTU 1500 on enp1s0f0np0  9000" in text
    assert "  memory.swap (a, b): Run the playbook prepare." in text
    assert text.endswith(
        "Preflight of 3 hosts: checks 1 failed, 2 warned, 2 passed, 1 do not apply here or need root."
        " docs/troubleshooting.md explains each."
    )


def test_the_table_has_everything_when_asked() -> None:
    assert sum("docker.engine" in line for line in preflight.lines(found(), everything=True)) == 2


def test_nothing_to_say_is_one_line() -> None:
    good = preflight.findings([("a", GOOD)], ["a"], (), False)
    assert preflight.lines(good, everything=False) == ["Preflight of 1 host: checks 1 passed."]


def test_a_long_answer_goes_over_lines() -> None:
    long = failed("docker.engine", "word " * 40, "a b", "Do.")
    lines = preflight.lines(preflight.findings([("a", long)], ["a"], (), False), everything=False)
    assert max(map(len, lines[:-3])) < 110


def test_the_document_has_all_answers() -> None:
    document = preflight.document(found(more=(("", PLAN),)), HOSTS)
    assert list(document["hosts"]) == HOSTS
    assert [check["id"] for check in document["hosts"]["b"]] == ["memory.swap", "network.mtu"]
    assert document["hosts"]["b"][1]["remedy"] == MTU.remedy
    assert [check["id"] for check in document["all"]] == ["plan.configuration"]
    assert (document["failed"], document["warned"], document["skipped"]) == (2, 2, 1)
