# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What releases of iproute2 print as JSON."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import ip_json
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.ip_json import Interface, Neighbour, Route
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.checks.pretended_spark import captured

NONSENSE = ["", "null", "[", "{}", '"text"', "[1, null, []]", "Device does not exist"]


def test_p08_a_key_that_was_given_as_filter_is_filled_in() -> None:
    text = '[{"dst":"192.0.2.12","lladdr":"02:00:00:00:00:12","state":["STALE"]}]'
    assert ip_json.neighbours(text, interface="enp1s0f0np0") == [Neighbour("192.0.2.12", "enp1s0f0np0", True)]
    assert ip_json.neighbours('[{"lladdr":"02:00:00:00:00:12"}]', "enp1s0f0np0", "192.0.2.12") == [
        Neighbour("192.0.2.12", "enp1s0f0np0", True)
    ]


@pytest.mark.parametrize("state", [["FAILED"], ["INCOMPLETE"], []])
def test_a_neighbour_without_hardware_address_is_not_there(state: list[str]) -> None:
    text = f'[{{"dst":"192.0.2.12","dev":"enp1s0f0np0","state":{state}}}]'.replace("'", '"')
    assert ip_json.neighbours(text) == [Neighbour("192.0.2.12", "enp1s0f0np0", False)]


@pytest.mark.parametrize(
    ("text", "interface"),
    [
        ('[{"ifname":"a"}]', Interface("a")),
        ('[{},{"ifname":"a","addr_info":[{}],"flags":null,"mtu":"big","ifindex":null},{}]', Interface("a")),
        ('[{"ifname":"a","addr_info":[{"local":"192.0.2.11"}]}]', Interface("a", addresses=("192.0.2.11",))),
    ],
)
def test_p08_every_key_of_an_interface_is_optional(text: str, interface: Interface) -> None:
    assert ip_json.interfaces(text) == {"a": interface}


@pytest.mark.parametrize(
    ("interface", "up", "carrier"),
    [
        (Interface("a"), True, True),
        (Interface("a", flags=frozenset({"UP", "LOWER_UP"}), state="UNKNOWN"), True, True),
        (Interface("a", flags=frozenset({"UP", "NO-CARRIER"}), state="DOWN"), True, False),
        (Interface("a", flags=frozenset({"BROADCAST"}), state="DOWN"), False, False),
        (Interface("a", state="LOWERLAYERDOWN"), True, False),
        (Interface("a", state="DOWN"), False, False),
    ],
)
def test_up_and_carrier(interface: Interface, up: bool, carrier: bool) -> None:
    assert (interface.up, interface.carrier) == (up, carrier)


def test_what_a_lab_host_prints() -> None:
    found = ip_json.interfaces(captured("ip-address-lab.json"))
    assert found["enp1s0f0np0"].addresses == ("10.100.0.1/24",)
    assert (found["enp1s0f0np0"].mtu, found["enp1s0f0np0"].index, found["enp1s0f0np0"].up) == (9000, 2, True)
    assert not found["docker0"].carrier


@pytest.mark.parametrize(
    ("text", "route"),
    [
        (
            '[{"dst":"10.100.0.2","dev":"enp1s0f0np0","prefsrc":"10.100.0.1","flags":[],"uid":0,"cache":[]}]',
            Route("enp1s0f0np0", False),
        ),
        (
            '[{"type":"local","dst":"10.100.0.1","dev":"lo","prefsrc":"10.100.0.1","cache":["local"]}]',
            Route("lo", True),
        ),
        ('[{"dst":"10.100.0.2"}]', Route("", False)),
        ("[{}]", None),
    ],
)
def test_route(text: str, route: Route | None) -> None:
    assert ip_json.route(text) == route


@pytest.mark.parametrize("text", NONSENSE)
def test_any_other_text_holds_nothing(text: str) -> None:
    assert ip_json.interfaces(text) == {}
    assert ip_json.route(text) is None
    assert ip_json.neighbours(text) == []
