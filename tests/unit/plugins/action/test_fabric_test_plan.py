# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge that plans a test: what it takes from the hosts' variables, and what it says of a plan that failed."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

from ansible_collections.dgxspark.serving.plugins.action import fabric_test_plan

UP = {"speed": 200000, "mtu": 9000, "state": "up"}
LOOK = {
    "tools": ["iperf3", "docker"],
    "links": {"enp1s0f0np0": UP},
    "rdma_devices": [],
    "engines": [],
    "image": True,
    "memory_available": 2**36,
}


def links(number: int) -> list[dict[str, str]]:
    return [{"interface": "enp1s0f0np0", "address": f"192.0.2.{number}/24", "rdma_device": "rocep1s0f0"}]


def run(serving: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """The plugin for two hosts, and a third that said nothing."""
    hostvars = {
        "spark1": {"here": LOOK, "fabric_links": links(11)},
        "spark2": {"here": LOOK, "fabric_links": links(12), "fabric_gid_index": "3"},
        "spark3": {"fabric_links": links(13)},
    }
    task = MagicMock(args={"result_variable": "here", "plan": serving, **arguments}, check_mode=False, async_val=0)
    make = fabric_test_plan.ActionModule
    plugin = make(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
    return plugin.run(task_vars={"hostvars": hostvars, "ansible_play_hosts": list(hostvars)})


def test_hosts_that_said_nothing_are_left_out() -> None:
    made = run({"ranks": {}, "replicas": []})
    assert [pair["name"] for pair in made["pairs"]] == ["spark1 - spark2"]
    assert made["notes"] == []


def test_the_image_is_the_ranks_own_or_the_wished_one() -> None:
    ranks = {host: {"replica": host, "container": {"image": "engine:1"}} for host in ("spark1", "spark2")}
    for arguments, image in (({}, "engine:1"), ({"image": "other:2"}, "other:2")):
        made = run({"ranks": ranks, "replicas": []}, **arguments)
        assert image in made["rounds"][0]["spark2"]["all_gather"][0]["argv"]


def test_text_from_the_command_line_is_read() -> None:
    made = run({"ranks": {}}, seconds="2", streams="4", buffer="16M", disturb="true")
    (job,) = made["rounds"][0]["spark1"]["tools"][0]["jobs"]
    assert job["argv"][job["argv"].index("--time") + 1] == "2"


def test_a_plan_that_failed_is_said_with_its_faults() -> None:
    # The playbook lets it pass, so that it does not say that it failed.
    text = "The configuration has 1 error; nothing was changed.\n  1. fabric_test_secconds: found an unknown variable."
    made = run({"failed": False, "msg": text})
    assert made["notes"][1:] == ["  1. fabric_test_secconds: found an unknown variable."]


def test_faults_of_the_test_itself_end_it() -> None:
    made = run({"ranks": {}}, pairs="spark1:spark9")
    assert made["failed"]
    assert "fabric_test_pairs: found 'spark1:spark9'" in made["msg"]
