# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the gateway reaches engines."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.way import Way, way_to

LINKS = {
    "spark1": [{"address": "198.51.100.1/25"}, {"address": "198.51.100.129/25"}],
    "spark2": [{"address": "198.51.100.2/25"}, {"address": "198.51.100.130/25"}],
    "spark3": [{"address": "203.0.113.3/24"}],
    "spark4": [],
}
FABRIC = Way("198.51.100.2", "198.51.100.2")


@pytest.mark.parametrize(
    ("wished", "host", "gateways", "wanted"),
    [
        (None, "spark2", [], Way("0.0.0.0", "spark2.lan")),
        ("192.0.2.2", "spark2", [], Way("192.0.2.2", "spark2.lan")),
        (None, "spark2", ["spark2"], Way("127.0.0.1", "127.0.0.1")),
        (None, "spark2", ["spark1"], FABRIC),
        # Two gateways: loopback is not enough for the other one.
        (None, "spark2", ["spark2", "spark1"], FABRIC),
        ("0.0.0.0", "spark2", ["spark1"], Way("0.0.0.0", "198.51.100.2")),
        ("0.0.0.0", "spark2", ["spark2"], Way("0.0.0.0", "127.0.0.1")),
        ("0.0.0.0", "spark2", ["spark4"], Way("0.0.0.0", "spark2.lan")),
        ("192.0.2.2", "spark2", ["spark1"], Way("192.0.2.2", "192.0.2.2")),
        ("127.0.0.1", "spark2", ["spark2"], Way("127.0.0.1", "127.0.0.1")),
    ],
)
def test_the_way_is_as_narrow_as_it_can_be(wished: str | None, host: str, gateways: list[str], wanted: Way) -> None:
    assert way_to(wished, host, gateways, LINKS, f"{host}.lan") == (wanted, [])


@pytest.mark.parametrize("gateway", ["spark3", "spark4"])
def test_without_a_common_fabric_the_engine_is_open_and_that_is_said(gateway: str) -> None:
    way, faults = way_to(None, "spark2", [gateway], LINKS, "spark2.lan")

    assert (way.listen, way.address, faults) == ("0.0.0.0", "spark2.lan", [])
    assert (
        way.warning == "spark2: its engine listens on every network, for it shares none of the fabric with the gateway"
    )


def test_loopback_is_refused_where_a_gateway_is_elsewhere() -> None:
    [fault] = way_to("127.0.0.1", "spark2", ["spark1", "spark2"], LINKS, "spark2.lan")[1]

    assert (fault.host, fault.found, fault.wanted) == ("spark2", "'127.0.0.1'", "an address that spark1 reaches")
