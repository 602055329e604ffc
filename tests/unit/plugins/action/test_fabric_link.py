# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change of the fabric is kept only where all have answered."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import fabric_link, fabric_ssh

LINKS = {
    "spark1": [{"interface": "enp1s0f0np0", "address": "192.0.2.11/24"}],
    "spark2": [{"interface": "enp1s0f0np0", "address": "192.0.2.12/24"}],
}
ANSWERED = {"changed": False, "silent": []}


def run(
    plugin: Any, stage: str, results: dict[str, dict[str, Any]], links: dict[str, Any] | None = None, **more: Any
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What the plugin returns on spark1, and the arguments with which it ran the module, if it did.

    :param results: registered variables of each host
    """
    task = MagicMock(args={"stage": stage}, check_mode=False, async_val=0)
    action = plugin.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
    action._execute_module = MagicMock(return_value={"changed": True})
    links = LINKS if links is None else links
    hostvars = {host: {"fabric_links": links[host], **results.get(host, {})} for host in links}
    task_vars = {
        "inventory_hostname": "spark1",
        "groups": {"sparks": list(links)},
        "hostvars": hostvars,
        "ansible_play_hosts_all": list(links),
        **hostvars["spark1"],
        **more,
    }
    result = action.run(task_vars=task_vars)
    called = action._execute_module.call_args
    return result, called.kwargs["module_args"] if called else None


def test_a_host_gets_its_links_its_peers_and_the_program() -> None:
    _result, arguments = run(fabric_link, "apply", {})
    assert arguments is not None
    assert [link["interface"] for link in arguments["links"]] == ["enp1s0f0np0"]
    assert [peer["host"] for peer in arguments["peers"]] == ["spark2"]
    compile(arguments["program"], "fabric_revert.py", "exec")


def test_an_address_is_written_as_the_kernel_has_it() -> None:
    links = {host: [{"interface": "enp1s0f0np0", "address": f"2001:DB8:0::{host[-1]}/64"}] for host in LINKS}
    _result, arguments = run(fabric_link, "apply", {}, links)
    assert arguments is not None
    assert arguments["links"][0]["address"] == "2001:db8::1/64"


@pytest.mark.parametrize(
    ("links", "text"),
    [
        ({"spark1": [], "spark2": []}, "fabric_links is set for no host"),
        ({**LINKS, "spark1": [{"interface": "enp1s0f0np0", "address": "192.0.2.12/24"}]}, "which spark2 (enp1s0f0np0)"),
        ({**LINKS, "spark1": [{"interface": "enp1s0f0np0"}]}, "wanted a mapping with interface and address"),
    ],
)
def test_a_wrong_inventory_touches_no_host(links: dict[str, Any], text: str) -> None:
    result, arguments = run(fabric_link, "apply", {}, links)
    assert arguments is None
    assert result["failed"]
    assert text in result["msg"]


def test_a_host_without_links_is_passed_over() -> None:
    result, arguments = run(fabric_link, "apply", {}, {**LINKS, "spark1": []})
    assert (result["skipped"], arguments) == (True, None)


@pytest.mark.parametrize(
    ("changed", "asked"),
    [({"spark1": True}, True), ({"spark2": True}, True), ({"spark1": False, "spark2": False}, False)],
)
def test_all_hosts_ask_when_any_has_changed(changed: dict[str, bool], asked: bool) -> None:
    results = {host: {"__fabric_applied": {"changed": value}} for host, value in changed.items()}
    _result, arguments = run(fabric_link, "confirm", results)
    assert (arguments is not None) is asked


def test_nothing_is_asked_in_check_mode() -> None:
    changed = {"spark1": {"__fabric_applied": {"changed": True}}}
    assert run(fabric_link, "confirm", changed, ansible_check_mode=True)[1] is None


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        ({"__fabric_confirmed": ANSWERED}, True),
        ({"__fabric_confirmed": {"failed": True, "silent": [{}]}}, False),
        ({"__fabric_confirmed": {"skipped": True}}, False),
        ({"__fabric_applied": {"failed": True}}, False),
        ({}, False),
    ],
)
def test_a_change_is_kept_only_if_its_peers_were_answered_too(other: dict[str, Any], kept: bool) -> None:
    own = {"__fabric_applied": {"changed": True}, "__fabric_confirmed": ANSWERED}
    result, arguments = run(fabric_link, "keep", {"spark1": own, "spark2": other})
    assert (arguments is not None) is kept
    if not kept:
        assert result["msg"] == ("The change is not confirmed on spark2, so that this host takes it back by itself.")


def test_a_host_that_did_not_change_has_nothing_to_keep() -> None:
    assert run(fabric_link, "keep", {"spark1": {"__fabric_applied": {"changed": False}}})[1] is None


def test_the_undo_needs_no_links() -> None:
    assert run(fabric_link, "absent", {}, {"spark1": [], "spark2": []})[1] == {"stage": "absent"}


def test_peers_keys_come_from_what_the_peers_said() -> None:
    said = {"public_key": "ssh-ed25519 AAAA x", "host_keys": ["ssh-ed25519 BBBB root"]}
    _result, arguments = run(fabric_ssh, "peers", {"spark2": {"__fabric_own": said}})
    assert arguments is not None
    assert arguments["peers"] == [{"host": "spark2", "addresses": ["192.0.2.12"], **said}]


def test_a12_a_peer_outside_the_run_is_named() -> None:
    """--limit spark1: the other host's variables are not there."""
    result, arguments = run(fabric_ssh, "peers", {})
    assert arguments is None
    assert result["msg"] == (
        "The keys of spark2 are not known, for it is not in this run or has failed in it. Run without --limit."
    )
