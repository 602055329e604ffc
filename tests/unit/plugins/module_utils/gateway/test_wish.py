# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the variables ask of the gateway."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.wish import NONE, read_wish
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import Unreadable

GROUP = ("spark1", "spark2", "spark3")


@pytest.mark.parametrize(
    ("variables", "heads", "hosts"),
    [
        ({}, ["spark1"], ()),
        ({}, ["spark2", "spark3"], ("spark2",)),
        ({"gateway_enabled": "true"}, ["spark1"], ("spark1",)),
        ({"gateway_enabled": False}, ["spark1", "spark2"], ()),
        ({"gateway_hosts": ["spark3", "spark1"]}, ["spark1", "spark2"], ("spark3", "spark1")),
    ],
)
def test_where_the_gateway_runs(variables: dict[str, Any], heads: list[str], hosts: tuple[str, ...]) -> None:
    wish, faults = read_wish(variables, {}, GROUP, heads)

    assert (wish.hosts, faults) == (hosts, [])
    assert (wish == NONE) is (not hosts)


def test_what_is_given_with_e_goes_before_the_inventory() -> None:
    wish, _faults = read_wish({"gateway_port": 81}, {"gateway_port": "8443"}, GROUP, GROUP)

    assert wish.values["port"] == 8443


def test_all_that_is_wrong_is_said_even_where_there_is_no_gateway() -> None:
    variables = {"gateway_port": 0, "gateway_provider": "apache", "gateway_hosts": ["spark9"], "gateway_enabled": False}
    faults = read_wish(variables, {}, GROUP, GROUP)[1]

    assert [fault.variable for fault in faults] == ["gateway_provider", "gateway_port", "gateway_hosts"]
    assert faults[2].wanted == "a host of the group (spark1, spark2, spark3)"


def test_keys_are_known_by_their_names() -> None:
    keys = [{"name": "laptop", "key": "sk-1"}, {"name": "ci", "file": "/home/me/ci.key"}]
    wish, faults = read_wish({"gateway_keys": keys}, {}, GROUP, GROUP)

    assert (wish.keys, faults) == (("laptop", "ci"), [])


@pytest.mark.parametrize(
    "keys",
    [
        "sk-secret",
        ["sk-secret"],
        [{"name": "laptop", "value": "sk-secret"}],
        [{"name": "laptop", "key": "sk-secret", "file": "sk-secret"}],
        [{"name": "two words", "key": "sk-secret"}],
        [{"name": "laptop", "key": "sk-secret"}, {"name": "laptop", "key": "sk-secret"}],
        Unreadable("no vault"),
    ],
)
def test_a_fault_of_a_key_never_shows_it(keys: Any) -> None:
    faults = read_wish({"gateway_keys": keys}, {}, GROUP, GROUP)[1]

    assert len(faults) == 1
    assert "sk-secret" not in repr(faults)
