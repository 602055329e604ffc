# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the two plans of a copy read of the hosts: who has it, and which way it goes."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import fanout_plan, model_plan

FOUND = {
    "hub": "huggingface", "model": "acme/tiny", "problems": [], "fingerprint": "aa", "size": 10**9, "root": "/hub"
}  # fmt: skip
GONE = {**FOUND, "problems": ["no folder"], "fingerprint": "", "size": 0, "root": "/mine"}
RANK = {"model_revision": ""}


def run(
    monkeypatch: pytest.MonkeyPatch, module: Any, hostvars: dict[str, Any], arguments: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    task = MagicMock(args=arguments, check_mode=False, async_val=0)
    plugin = module.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
    shown: list[str] = []
    monkeypatch.setattr(module.Display, "display", lambda display, text: shown.append(text))
    hosts = list(hostvars)
    variables = {
        "inventory_hostname": hosts[0], "hostvars": hostvars, "groups": {"sparks": hosts}, "ansible_play_hosts": hosts
    }  # fmt: skip
    return plugin.run(task_vars=variables), shown


def test_what_was_looked_at_last_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {
        "s1": {"__preflight_here": {"model": FOUND}},
        "s2": {"__preflight_here": {"model": GONE}, "__model_found": {"skipped": True}},
        "s3": {"__preflight_here": {"model": GONE}, "__model_found": FOUND},
        "s4": {},
    }
    ranks = dict.fromkeys(("s1", "s2", "s3"), RANK)
    result, shown = run(monkeypatch, model_plan, seen, {"ranks": ranks})
    assert result["steps"] == {"s1": "source", "s2": "receive", "s3": ""}
    assert (result["changed"], result["download"], result["refused"]) == (True, False, {})
    assert {host: offer["root"] for host, offer in result["offers"].items()} == {"s1": "/hub", "s2": "/mine"}
    assert shown == ["acme/tiny, 1.0 GB, is copied from s1 to s2."]


def test_who_waited_for_a_host_that_failed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rank = {"model_revision": "", "model_hub": "huggingface", "model": "acme/tiny"}
    arguments = {"ranks": {"s1": rank, "s2": rank}, "download": False, "tried": {"s1": "download", "s2": ""}}
    result, _shown = run(monkeypatch, model_plan, {"s2": {"__model_found": GONE}}, arguments)
    assert "its download on s1 has failed" in result["refused"]["s2"]


def test_a_truth_that_serves_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = {"ranks": {"s1": RANK}, "truth": "s9"}
    result, _shown = run(monkeypatch, model_plan, {"s1": {"__model_found": FOUND}}, arguments)
    assert result["msg"] == "model_from is s9, wanted one of: s1."


def links(number: int, network: str = "192.0.2") -> list[dict[str, str]]:
    return [{"interface": "x", "address": f"{network}.{number}/24"}]


OFFERS = {host: {"key": "m", "what": "model m", "source": host == "s1", "root": "/hub"} for host in ("s1", "s2", "s3")}


def test_the_way_is_laid_over_the_fabric(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {f"s{number}": {"fabric_links": links(number), "need": {"needed": 10**9}} for number in (1, 2, 3)}
    result, shown = run(monkeypatch, fanout_plan, hosts, {"offers": OFFERS, "need_variable": "need"})
    assert result["refused"] == {}
    assert result["ways"]["s3"]["upstreams"] == [["192.0.2.2"], ["192.0.2.1"]]
    assert shown == ["Copying model m from s1 to s2, s3: 2.0 GB."]


def test_every_reason_of_every_host_is_said_before_the_first_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {
        "s1": {"fabric_links": links(1)},
        "s2": {"fabric_links": links(2), "need": {"problems": ["no room"]}},
        "s3": {"fabric_links": links(3, "198.51.100")},
    }
    result, _shown = run(monkeypatch, fanout_plan, hosts, {"offers": OFFERS, "need_variable": "need"})
    assert (result["ways"], list(result["refused"])) == ({}, ["s1", "s2", "s3"])
    words = result["refused"]["s1"]
    assert words.startswith("model m is not copied, and nothing was changed.\n  1. s2: no room\n  2. ")
    assert "fanout_network" in words


def test_who_has_failed_takes_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {f"s{number}": {"fabric_links": links(number)} for number in (2, 3)}
    result, _shown = run(monkeypatch, fanout_plan, hosts, {"offers": OFFERS, "need_variable": "need"})
    assert "the host that it was to come from has failed" in result["refused"]["s2"]


def test_without_a_fabric_any_address_will_do_if_told(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {f"s{number}": {"ansible_host": f"203.0.113.{number}"} for number in (1, 2, 3)}
    arguments = {"offers": OFFERS, "need_variable": "need", "network": "any"}
    result, _shown = run(monkeypatch, fanout_plan, hosts, arguments)
    assert result["ways"]["s2"]["upstreams"] == [["203.0.113.1"]]
