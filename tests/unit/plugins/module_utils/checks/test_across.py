# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What hosts must have in common."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import across, across_network, ids
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)

PAIR = [{"name": "big-0", "deployment": "big", "hosts": ["a", "b"]}]
SINGLES = [{"name": f"chat-{host}", "deployment": "chat", "hosts": [host]} for host in "ab"]
# Field fault D04: one image in Docker's two stores.
OVERLAY = {"id": "sha256:1111", "repo_digests": ["acme/vllm@sha256:aaaa"], "architecture": "arm64"}
CONTAINERD = {"id": "sha256:aaaa", "repo_digests": ["acme/vllm@sha256:aaaa"], "architecture": "arm64"}
OTHER = {"id": "sha256:2222", "repo_digests": ["acme/vllm@sha256:bbbb"], "architecture": "arm64"}
BUILT = {"id": "sha256:3333", "repo_digests": [], "architecture": "arm64"}


def host(number: int, **changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "gpu": {"driver": "580.95.05"},
        "image": OVERLAY,
        "versions": {"vllm": "0.12.0", "torch": "2.10.0", "nccl": "2.28.3"},
        "model": {"manifest": "0123456789abcdef", "bytes": 5},
        "network": {
            "mtu": {"enp1s0f0np0": 9000, "enP2p1s0f0np0": 9000},
            "addresses": {
                "enp1s0f0np0": [f"10.100.0.{number}/24", "fe80::1/64"],
                "enP2p1s0f0np0": [f"10.100.1.{number}/24"],
            },
            "silent": [],
        },
        "clock_skew": 0.1 * number,
    }
    return {**facts, **changes}


def troubled(b: dict[str, Any], a: dict[str, Any] | None = None, replicas: Any = None) -> list[tuple[str, Check]]:
    hosts = {"a": a or host(1), "b": b}
    findings = across.checks(hosts, PAIR if replicas is None else replicas)
    return [(where, one) for where, one in findings if one.status in ("warn", "fail")]


def test_equal_hosts_pass_each_check_once() -> None:
    findings = across.checks({"a": host(1), "b": host(2)}, PAIR)
    assert [one.id for _where, one in findings] == [name for name in ids.IDS if name.startswith("across.")]
    assert {(where, one.status) for where, one in findings} == {("", "pass")}


@pytest.mark.parametrize(
    "hosts", [{}, {"a": host(1)}, {"a": {}, "b": {}}, {"a": {"gpu": None, "network": {}}, "b": {"model": None}}]
)
def test_nothing_to_compare(hosts: dict[str, Any]) -> None:
    findings = across.checks(hosts, PAIR)
    assert {(where, one.status) for where, one in findings if one.id != "across.clock"} == {("", "skip")}


def test_driver() -> None:
    [(where, one)] = troubled(host(2, gpu={"driver": "580.82.09"}))
    assert (where, one.id, one.status) == ("", "across.driver", "warn")
    assert one.found == "580.95.05 on a; 580.82.09 on b"


def test_d04_ids_of_two_stores_are_one_image() -> None:
    assert troubled(host(2, image=CONTAINERD)) == []


@pytest.mark.parametrize(
    ("image", "versions", "status", "found"),
    [
        (OTHER, {"torch": "2.10.0"}, "fail", "digest sha256:bbbb"),
        (BUILT, {"torch": "2.10.0"}, "warn", "id sha256:3333"),
        (BUILT, {}, "fail", "id sha256:3333"),
    ],
    ids=["another", "built here, with the same in it", "built here"],
)
def test_d04_another_image_in_a_replica(image: Any, versions: Any, status: str, found: str) -> None:
    [(where, one)] = troubled(host(2, image=image, versions=versions), host(1, versions={"torch": "2.10.0"}))
    assert (where, one.id, one.status, one.found) == ("b", "across.image", status, found)
    assert one.wanted == "digest sha256:aaaa, as a has"


def test_d01_an_image_for_another_architecture_is_named_once() -> None:
    assert troubled(host(2, image={**OTHER, "architecture": "amd64"})) == []


def test_another_image_in_another_replica_is_a_warning() -> None:
    [(where, one)] = troubled(host(2, image=OTHER), replicas=SINGLES)
    assert (where, one.id, one.status) == ("b", "across.image", "warn")
    apart = [{**replica, "deployment": replica["name"]} for replica in SINGLES]
    assert troubled(host(2, image=OTHER), replicas=apart) == []


def test_a_missing_image_is_the_hosts_own_finding() -> None:
    assert troubled(host(2, image=None)) == []


def test_n01_two_builds_of_pytorch_in_a_replica() -> None:
    versions = {"vllm": "0.12.0", "torch": "2.9.1", "python": "3.12.3"}
    [(where, one)] = troubled(host(2, versions=versions))
    assert (where, one.id, one.status) == ("b", "across.versions", "fail")
    assert (one.found, one.wanted) == ("torch 2.9.1", "torch 2.10.0, as on a")
    assert troubled(host(2, versions=versions), replicas=SINGLES) == [], "replicas do not meet in a collective"


def test_model() -> None:
    [(where, one)] = troubled(host(2, model={"manifest": "fedcba9876543210", "bytes": 5}))
    assert (where, one.id, one.status) == ("b", "across.model", "fail")
    assert (one.found, one.wanted) == ("files with manifest fedcba987654", "0123456789ab, as on a")
    assert troubled(host(2, model=None)) == []


def network(number: int, mtu: int) -> dict[str, Any]:
    own = host(number)["network"]
    return {**own, "mtu": {**own["mtu"], "enp1s0f0np0": mtu}}


def test_mtu_at_the_two_ends() -> None:
    [(where, one)] = troubled(host(2, network=network(2, 1500)))
    assert (where, one.id, one.status) == ("b", "across.mtu", "fail")
    assert one.found == "enp1s0f0np0 1500 in 10.100.0.0/24"
    assert one.wanted == "9000, as enp1s0f0np0 of a has"
    assert troubled(host(2, network=network(2, 1500)), host(1, network=network(1, 1500))) == []
    assert troubled(host(2, network=network(2, 1500)), replicas=SINGLES) == []


def test_n04_mtu_is_compared_by_network_and_not_by_name() -> None:
    moved = {"mtu": {"enp1s0f1np1": 1500}, "addresses": {"enp1s0f1np1": ["10.100.0.2/24"]}}
    [(where, one)] = troubled(host(2, network=moved))
    assert (where, one.found) == ("b", "enp1s0f1np1 1500 in 10.100.0.0/24")


def test_n14_one_address_on_two_hosts() -> None:
    doubled = {"mtu": {}, "addresses": {"enp1s0f0np0": ["10.100.0.1/24", "fe80::1/64"]}}
    for replicas in (PAIR, SINGLES):
        [(where, one)] = troubled(host(2, network=doubled), replicas=replicas)
        assert (where, one.id, one.status) == ("b", "across.address", "fail")
        assert one.found == "10.100.0.1 on enp1s0f0np0, which a has too"


@pytest.mark.parametrize(
    ("skews", "expected"),
    [
        ((0.0, 1.9), []),
        ((0.0, -2.5), [("b", "warn", "its clock is 2.5 s behind the controller's")]),
        ((0.0, 61.0), [("b", "fail", "its clock is 61.0 s ahead of the controller's")]),
        ((300.0, -300.0), [("a", "fail", None), ("b", "fail", None)]),
        ((-300.2, -299.9), [("", "warn", "the clock of this controller is 300.2 s ahead of all hosts")]),
        ((None, 1.0), []),
    ],
)
def test_clock(skews: tuple[float | None, float], expected: list[tuple[str, str, str | None]]) -> None:
    found = troubled(host(2, clock_skew=skews[1]), host(1, clock_skew=skews[0]))
    assert [(where, one.status) for where, one in found] == [one[:2] for one in expected]
    for (_where, one), (_host, _status, text) in zip(found, expected, strict=True):
        assert one.id == "across.clock"
        assert text is None or one.found == text


JUMBO = failed("network.jumbo", "a (10.100.0.1) does not answer on enp1s0f0np0", "an answer", "See a")
UP = passed("network.interface", "enp1s0f0np0 up")


@pytest.mark.parametrize(
    ("cause", "silent", "expected"),
    [
        (
            failed("network.interface", "no carrier", "up", "Plug it in"),
            ["a"],
            skipped("network.jumbo", "follows from network.interface of a"),
        ),
        (
            warned("network.mtu", "1500", "9000", "Set it"),
            ["a"],
            skipped("network.jumbo", "follows from network.mtu of a"),
        ),
        (failed("network.interface", "no carrier", "up", "Plug it in"), ["a", "c"], JUMBO),
        (UP, ["a"], JUMBO),
        (warned("network.twin", "one half", "both", "Add it"), ["a"], JUMBO),
    ],
    ids=["pulled", "mtu", "another peer too", "a switch between", "another matter"],
)
def test_a_cause_is_named_once(cause: Check, silent: list[str], expected: Check) -> None:
    found = {"a": [cause], "b": [UP, JUMBO], "c": [UP]}
    result = across_network.without_echoes(found, {"b": {"silent": silent}, "c": {}})
    assert result == {"a": [cause], "b": [UP, expected], "c": [UP]}


def test_an_mtu_that_differs_from_the_peers_is_named_once() -> None:
    mtu = warned("network.mtu", "1500", "9000", "Set it")
    found = {"a": [UP, mtu], "b": [UP, mtu]}
    across = [("a", failed("across.mtu", "1500", "9000", "Set it"))]
    result = across_network.without_echoes(found, {}, across)
    assert result == {"a": [UP, skipped("network.mtu", "follows from across.mtu")], "b": [UP, mtu]}
