# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is asked, and what is made of all answers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import preflight_info, preflight_report

RANK = {
    "hosts": ["a", "b"],
    "world_size": 2,
    "links": [{"interface": "x", "address": "192.0.2.1/24", "rdma_device": ""}],
    "container": {"image": "acme/vllm:1", "env": {}},
}
PLAN = {"ranks": {"a": RANK}, "replicas": [{"name": "r", "deployment": "d", "hosts": ["a", "b"]}]}
GOOD = {"id": "docker.engine", "status": "pass", "found": "28.0", "wanted": "", "detail": "", "remedy": ""}
BAD = {**GOOD, "status": "fail", "found": "not running", "wanted": "running", "remedy": "Start it"}


def made(plugin: Any, **arguments: Any) -> Any:
    task = MagicMock(args=arguments, check_mode=False, async_val=0)
    return plugin.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())


def links(number: int) -> dict[str, Any]:
    return {"fabric_links": [{"interface": "x", "address": f"192.0.2.{number}/24"}]}


def ask(answer: dict[str, Any], **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result on host a, and the arguments with which the module was run."""
    action = made(preflight_info, **arguments)
    action._execute_module = MagicMock(return_value=answer)
    hostvars = {"a": links(1), "b": links(2), "c": links(3)}
    task_vars = {"inventory_hostname": "a", "groups": {"sparks": list(hostvars)}, "hostvars": hostvars}
    result = action.run(task_vars={**task_vars, "ansible_play_hosts_all": list(hostvars)})
    return result, action._execute_module.call_args.kwargs["module_args"]


def test_a_host_gets_its_part_of_the_plan() -> None:
    _result, arguments = ask({}, plan=PLAN, mtu=9000)
    assert "plan" not in arguments
    assert arguments["rank"] == RANK
    assert [peer["host"] for peer in arguments["want"]["peers"]] == ["b"]
    assert set(arguments["digests"]) == {"program", "ray_rank", "unit"}


def test_without_a_plan_there_is_no_rank() -> None:
    _result, arguments = ask({}, plan={"msg": "The configuration has 1 error"})
    assert (arguments["rank"], arguments["want"]["world_size"], "digests" in arguments) == ({}, 0, False)


@pytest.mark.parametrize(("off", "low", "high"), [(0.0, 0.0, 0.0), (100.0, 90.0, 100.1), (-100.0, -100.1, -90.0)])
def test_the_clocks_are_compared_as_far_as_can_be_told(off: float, low: float, high: float) -> None:
    result, _arguments = ask({"now": time.time() + off, "facts": {}})
    assert low <= result["facts"]["clock_skew"] <= high or result["facts"]["clock_skew"] == pytest.approx(off, abs=1)


def report(seen: dict[str, dict[str, Any]], **arguments: Any) -> dict[str, Any]:
    action = made(preflight_report, result_variable="here", **arguments)
    hostvars = {host: {"here": result} for host, result in seen.items()}
    return action.run(task_vars={"ansible_play_hosts_all": list(seen), "hostvars": hostvars})


def answer(*checks: dict[str, str]) -> dict[str, Any]:
    return {"checks": list(checks), "facts": {"network": {}, "clock_skew": 0.0}}


def test_who_shares_a_replica_with_a_host_that_failed_is_refused() -> None:
    result = report({"a": answer(GOOD), "b": answer(BAD), "c": answer(GOOD)}, plan=PLAN)
    assert "failed" not in result
    assert list(result["refused"]) == ["b", "a"]


def test_the_playbook_fails_once() -> None:
    result = report({"a": answer(GOOD), "b": answer(BAD)}, plan=PLAN, whole=True)
    assert result["failed"]
    assert result["msg"] == "1 check failed on b, a: see the table."


def test_what_is_known_fails_nobody() -> None:
    assert report({"a": answer(BAD)}, ignore=["docker.engine"], whole=True)["refused"] == {}


def test_a_wrong_id_is_an_error() -> None:
    result = report({"a": answer(BAD)}, ignore=["docker.motor"])
    assert result["failed"]
    assert result["msg"].startswith("preflight_ignore has docker.motor, wanted ids of checks: plan.configuration, ")


def test_a_host_without_an_answer_is_a_finding() -> None:
    result = report({"a": answer(GOOD), "b": {"unreachable": True, "msg": "No route\n to host"}})
    assert list(result["refused"]) == ["b"]
    assert "host.reachable: No route to host" in result["refused"]["b"]


def test_a_configuration_that_cannot_be_planned_is_a_finding_of_all() -> None:
    result = report({"a": answer(GOOD), "b": answer(GOOD)}, plan={"msg": "The configuration has 1 error"})
    assert list(result["refused"]) == ["a", "b"]


def test_the_file_has_all(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    report({"a": answer(GOOD)}, path=str(path))
    document = json.loads(path.read_text(encoding="utf-8"))
    assert [check["id"] for check in document["hosts"]["a"]] == ["host.reachable", "docker.engine"]
    assert document["failed"] == 0


def test_a_host_that_was_left_out_is_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    result = report({"a": {"skipped": True, "changed": False}, "b": answer(BAD)}, path=str(path))
    assert list(result["refused"]) == ["b"]
    assert list(json.loads(path.read_text(encoding="utf-8"))["hosts"]) == ["b"]
