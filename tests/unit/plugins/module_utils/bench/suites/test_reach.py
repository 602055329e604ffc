# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the client host reaches engines and gateway, and why it does not."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reach import Reach, reach
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.targets import (
    Targets,
    client_host,
    longest,
    targets_of,
)
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import (
    HOSTS,
    links,
    options,
    plan,
)

KEY = "/etc/dgxspark-serving/engine.key"
THREE = ("spark1", "spark2", "spark3")
GATEWAY_ALONE = {"gateway_hosts": ["spark3"]}


def found(made: dict[str, Any], client: str, number: int = 0, fabric: bool = True) -> Reach:
    return reach(client, made["replicas"][number], made, links(THREE) if fabric else {})


@pytest.mark.parametrize(
    ("client", "number", "address"),
    [
        ("spark1", 0, "http://127.0.0.1:8000"),  # gateway and engine on one host, which no other host needs
        ("spark1", 1, "http://192.0.2.12:8000"),
        ("spark2", 1, "http://192.0.2.12:8000"),
    ],
)
def test_behind_a_gateway_the_key_goes_along(client: str, number: int, address: str) -> None:
    assert found(plan(), client, number) == Reach(address, KEY)


@pytest.mark.parametrize(
    ("client", "number", "why", "instead"),
    [
        ("localhost", 0, "listens on the loopback of spark1 alone", ("spark1",)),
        ("spark2", 0, "listens on the loopback of spark1 alone", ("spark1",)),
        ("localhost", 1, "listens on 192.0.2.12 of the fabric, which localhost is not on", ("spark1", "spark2")),
    ],
)
def test_who_cannot_reach_an_engine_hears_who_can(client: str, number: int, why: str, instead: tuple[str, ...]) -> None:
    assert found(plan(), client, number) == Reach(why=why, instead=instead)


def test_a_host_on_the_fabric_that_holds_no_key() -> None:
    made = plan(("spark1", "spark2", "spark3"))
    made["gateway"]["key_hosts"].remove("spark3")
    way = found(made, "spark3", 1)
    assert (way.url, way.why) == ("", "asks for a key, which spark3 does not hold")


def test_without_a_fabric_engines_are_asked_by_name() -> None:
    made = plan(fabric=False)
    assert found(made, "spark1", 1, fabric=False) == Reach("http://spark2:8000", KEY)


@pytest.mark.parametrize(
    ("client", "address"),
    [
        ("spark1", "http://127.0.0.1:8000"),
        ("spark2", "http://192.0.2.11:8000"),  # the fabric is nearer than the management network
        ("localhost", "http://spark1:8000"),
    ],
)
def test_without_a_gateway_engines_listen_everywhere(client: str, address: str) -> None:
    assert found(plan(gateway_enabled=False), client) == Reach(address)


def test_an_address_of_the_users_choice_is_taken() -> None:
    made = plan(("spark1",), gateway_enabled=False, serving_listen_address="203.0.113.7")
    assert found(made, "localhost") == Reach("http://203.0.113.7:8000")


def test_a_replica_that_limit_leaves_out() -> None:
    made = plan()
    del made["ranks"]["spark2"]
    assert found(made, "spark1", 1).why == "is left out by --limit, for spark2 is"


def targets(made: dict[str, Any], client: str, **raw: Any) -> Targets:
    return targets_of(made, options(**raw), client, links(THREE))


def test_the_gateway_comes_first_and_tells_its_engines() -> None:
    all_of = targets(plan(), "spark1")
    assert [target["name"] for target in all_of.all] == ["gateway", "main-0", "main-1"]
    assert all_of.all[0] == {
        "served_model_name": "org/m",
        "deployment": "main",
        "verify_tls": True,
        "ca_file": "",
        "name": "gateway",
        "url": "http://127.0.0.1:8080",
        "via": "gateway",
        "key_file": "",
        "replica": "",
        "hosts": ["spark1", "spark2"],
        "engines": [
            {"replica": "main-0", "url": "http://127.0.0.1:8000", "key_file": KEY},
            {"replica": "main-1", "url": "http://192.0.2.12:8000", "key_file": KEY},
        ],
        "unread": [],
    }
    assert all_of.faults == {}
    assert all_of.notes == ()


def test_from_elsewhere_the_gateway_can_be_measured_without_its_engines() -> None:
    all_of = targets(plan(), "localhost")
    assert all_of.all[0]["url"] == "http://spark1:8080"
    assert all_of.all[0]["engines"] == []
    assert sorted(all_of.faults) == ["main-0", "main-1"]
    assert all_of.notes[0] == (
        "The engine of main-0 listens on the loopback of spark1 alone, so its own counters are not read."
    )


def test_a_gateway_whose_engines_cannot_all_be_asked_says_which() -> None:
    all_of = targets(plan(), "spark2")
    assert [engine["replica"] for engine in all_of.all[0]["engines"]] == ["main-1"]
    assert [target["unread"] for target in all_of.all] == [["main-0"], ["main-0"], []]
    assert all_of.notes == (
        "The engine of main-0 listens on the loopback of spark1 alone, so its own counters are not read.",
        "No counters of engines are read for gateway, for those of main-0 cannot be.",
    )


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("gateway", ["gateway"]),
        ("direct", ["main-0"]),
        ("both", ["gateway", "main-0"]),
        ("each-host", ["main-0", "main-1"]),
        ("entry", ["gateway"]),
        ("main-1", ["main-1"]),
        ("direct:main-1", ["main-1"]),
        ("main-9", []),
    ],
)
def test_words_for_targets(word: str, names: list[str]) -> None:
    assert [target["name"] for target in targets(plan(), "spark1").chosen(word)] == names


def test_without_a_gateway_the_first_replica_is_the_entry() -> None:
    all_of = targets(plan(gateway_enabled=False), "spark1")
    assert [target["name"] for target in all_of.chosen("entry")] == ["main-0"]
    assert all_of.chosen("gateway") == []


def test_a_gateway_that_asks_for_a_key() -> None:
    made = plan(gateway_keys=[{"name": "ann", "key": "0" * 24}])
    assert targets(made, "spark1").faults["gateway"].variable == "benchmark_api_key_file"
    with_key = targets(made, "spark1", api_key_file="key.txt")
    assert with_key.faults == {}
    assert with_key.all[0]["key_file"] == "@api"
    assert with_key.all[1]["key_file"] == KEY  # the client's key is the gateway's, not the engines'


@pytest.mark.parametrize(
    ("client", "raw", "url", "ca_file", "fault"),
    [
        ("spark1", {}, "https://spark1:8080", "/etc/dgxspark-serving/gateway/tls.pem", ""),
        ("localhost", {}, "https://spark1:8080", "", "benchmark_ca_file"),
        ("localhost", {"ca_file": "ca.pem"}, "https://spark1:8080", "@ca", ""),
        ("localhost", {"verify_tls": False}, "https://spark1:8080", "", ""),
    ],
)
def test_tls_is_checked_by_name(client: str, raw: dict[str, Any], url: str, ca_file: str, fault: str) -> None:
    all_of = targets(plan(gateway_tls="self-signed"), client, **raw)
    assert (all_of.all[0]["url"], all_of.all[0]["ca_file"]) == (url, ca_file)
    said = all_of.faults.get("gateway")
    assert (said.variable if said else "") == fault


def test_a_gateway_on_loopback_is_for_its_own_host() -> None:
    made = plan(gateway_listen_address="127.0.0.1")
    assert targets(made, "spark1").faults == {}
    assert targets(made, "spark2").faults["gateway"].remedy == "Set it to spark1"


@pytest.mark.parametrize(
    ("wished", "variables", "host"),
    [
        ("auto", {}, "spark1"),
        ("auto", {"gateway_hosts": ["spark2"]}, "spark2"),
        ("auto", {"gateway_enabled": False}, "spark1"),
        ("spark2", {}, "spark2"),
        ("localhost", {}, "localhost"),
    ],
)
def test_the_client_host(wished: str, variables: dict[str, Any], host: str) -> None:
    assert client_host(wished, plan(**variables), HOSTS) == (host, None)


def test_an_unknown_client_host() -> None:
    _host, fault = client_host("spark9", plan(), HOSTS)
    assert fault is not None
    assert fault.variable == "benchmark_client"
    assert "spark1, spark2" in fault.wanted


@pytest.mark.parametrize(
    ("engine_args", "length"), [({}, None), ({"max-model-len": "auto"}, None), ({"max-model-len": "4k"}, 4000)]
)
def test_the_longest_request(engine_args: dict[str, Any], length: int | None) -> None:
    made = plan(serving_engine_args=engine_args)
    assert {longest(made, target) for target in targets(made, "spark1").all} == {length}
