# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supervision spec as a supervisor reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.spec import Health, SpecError, parse


def spec(**changes: Any) -> str:
    limits = {
        "memory_floor": 6442450944,
        "hung_after": 180,
        "start_timeout": 1800,
        "stop_timeout": 60,
        "memory_wait": 120,
        "peer_timeout": 5,
        "restart_limit": 5,
        "restart_window": 3600,
    }
    data = {
        "container": "dgxspark-big-0-r0",
        "deployment": "big",
        "replica": "big-0",
        "generation": "0123456789ab",
        "rank": 0,
        "world_size": 2,
        "address": "10.100.0.1",
        "group_port": 29400,
        "peers": [{"rank": 1, "address": "10.100.0.2"}],
        "api": "http://127.0.0.1:8000",
        "memory_share": 0.7,
        "limits": limits,
    }
    data.update(changes)
    data["limits"] = {**limits, **changes.get("limits", {})}
    return json.dumps({key: value for key, value in data.items() if value is not None})


def test_a_sound_spec() -> None:
    read = parse(spec())
    assert (read.container, read.rank, read.peers) == ("dgxspark-big-0-r0", 0, {1: "10.100.0.2"})
    assert (read.limits.memory_floor, read.limits.peer_timeout) == (6442450944, 5)


def test_an_older_spec_has_no_door_and_no_key() -> None:
    read = parse(spec())
    assert (read.served_model_name, read.health, read.key_file) == ("", None, "")


def test_a_spec_with_a_door() -> None:
    read = parse(spec(served_model_name="qwen", health={"address": "192.0.2.11", "port": 29480}, key_file="/k"))
    assert (read.served_model_name, read.health, read.key_file) == ("qwen", Health("192.0.2.11", 29480), "/k")


def test_a_single_host_has_no_peers() -> None:
    assert parse(spec(world_size=1, peers=[], address="")).peers == {}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"generation": None}, "the supervision spec has no generation; deploy again"),
        ({"peers": [{"rank": 1}]}, "the supervision spec has no address; deploy again"),
        (
            {"peers": [{"rank": 2, "address": "10.100.0.2"}]},
            "names ranks [0, 2], and its world_size is 2; deploy again",
        ),
        ({"health": {"address": "192.0.2.11"}}, "the supervision spec has no port; deploy again"),
        ({"health": "192.0.2.11:29480"}, "cannot be read"),
        ({"rank": "first"}, "cannot be read"),
        ({"limits": {"hung_after": "3m"}}, "limits.hung_after is '3m' and not a number from 0 up"),
        ({"limits": {"memory_wait": -1}}, "limits.memory_wait is -1 and not a number from 0 up"),
    ],
)
def test_a_spec_that_cannot_be_used(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(SpecError) as error:
        parse(spec(**changes))
    assert text in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", b"\xff"])
def test_no_spec_at_all(text: str | bytes) -> None:
    with pytest.raises(SpecError, match="deploy again"):
        parse(text)
