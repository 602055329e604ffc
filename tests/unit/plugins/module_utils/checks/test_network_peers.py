# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to the other hosts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import network
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Output
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import (
    FAR,
    LINKS,
    NEAR,
    PEERS,
    captured,
    check,
    spark,
    troubled,
    want,
)

PEER = "spark-b (192.0.2.12)"


def routed(output: Output) -> dict[str, Output]:
    return {"route 192.0.2.12": output}


@pytest.mark.parametrize(
    ("output", "status", "found"),
    [
        (Output(0, '[{"dst":"192.0.2.12","dev":"enP7s7","flags":[]}]'), "fail", f"{PEER} leaves by enP7s7"),
        (
            Output(0, '[{"dst":"192.0.2.12","gateway":"198.51.100.1","dev":"wlP9s9"}]'),
            "fail",
            f"{PEER} leaves by wlP9s9",
        ),
        (Output(0, '[{"type":"local","dst":"192.0.2.12","dev":"lo"}]'), "fail", f"{PEER} is this host itself"),
        (
            Output(2, "", "RTNETLINK answers: Network is unreachable\n"),
            "fail",
            f"no route to {PEER}: Network is unreachable",
        ),
        (Output(2), "fail", f"no route to {PEER}: exit code 2"),
        (Output(0, '[{"dst":"192.0.2.12"}]'), "pass", f"peers by {FAR}"),
        (Output(0, ""), "pass", f"peers by {FAR}"),
        (Output(MISSING), "pass", f"peers by {FAR}"),
    ],
    ids=["management", "wi-fi", "itself", "none", "silent", "p08 no dev", "empty", "no ip"],
)
def test_n03_packets_leave_by_the_fabric(output: Output, status: str, found: str) -> None:
    raw = spark(outputs=routed(output))
    one = check("route", raw)
    assert (one.status, one.found) == (status, found)
    if status == "fail":
        assert one.wanted == f"by {NEAR}"
        assert troubled(raw) == {"route": "fail"}
        spare = want(peers=[replace(peer, must=False) for peer in PEERS])
        assert check("route", raw, spare).status == "warn"


def test_n20_the_other_half_in_the_same_network_is_no_wrong_way() -> None:
    raw = spark(outputs=routed(Output(0, f'[{{"dst":"192.0.2.12","dev":"{FAR}"}}]')))
    assert check("route", raw).found == f"peers by the other half, {FAR}; peers by {FAR}"
    alone = want(links=LINKS[:1], peers=PEERS[:1])
    assert check("route", raw, alone).status == "fail", "a half that is not in fabric_links is"


def pinged(name: str, err: str = "") -> dict[str, Output]:
    text = captured(name) if name else ""
    return {f"ping {peer.interface} {peer.address}": Output(0, text, err) for peer in PEERS[:1]}


@pytest.mark.parametrize(
    ("capture", "err", "status", "found"),
    [
        ("ping-answered.txt", "", "pass", f"9000 bytes on {NEAR}; 9000 bytes on {FAR}"),
        (
            "ping-small-only.txt",
            "",
            "fail",
            f"{PEER} answers small packets on {NEAR} and not those of 9000 bytes",
        ),
        ("ping-silent.txt", "", "fail", f"{PEER} does not answer on {NEAR}"),
        ("ping-nobody.txt", "", "fail", f"{PEER} does not answer on {NEAR}; nobody there has that address"),
        (
            "",
            "ping: connect: Network is unreachable",
            "fail",
            f"{PEER} does not answer on {NEAR}; nobody there has that address",
        ),
        ("", "sh: 1: ping: not found", "pass", f"9000 bytes on {FAR}"),
        ("", "ping: socktype: SOCK_RAW\nping: socket: Operation not permitted", "pass", f"9000 bytes on {FAR}"),
    ],
)
def test_large_packets_arrive(capture: str, err: str, status: str, found: str) -> None:
    raw = spark(outputs=pinged(capture, err))
    one = check("jumbo", raw)
    assert (one.status, one.found) == (status, found)
    assert network.facts(raw, want())["silent"] == (["spark-b"] if status == "fail" else [])
    if status == "fail":
        assert one.wanted == "an answer to 9000 bytes"
        assert "spark-b" in one.remedy
        assert troubled(raw) == {"jumbo": "fail"}
        spare = want(peers=[replace(peer, must=False) for peer in PEERS])
        assert check("jumbo", raw, spare).status == "warn"


def test_without_ping_nothing_is_said() -> None:
    one = check("jumbo", spark(outputs=pinged("", "sh: 1: ping: not found")), want(peers=PEERS[:1]))
    assert (one.status, one.found) == ("skip", "ping cannot be used here: sh: 1: ping: not found")


def test_without_peers_nothing_is_said() -> None:
    for word in ("route", "jumbo"):
        one = check(word, spark(), want(peers=()))
        assert (one.status, one.found) == ("skip", "no other host on the fabric")
