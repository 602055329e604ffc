# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host's rank is the wanted one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import containers, rank_state
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import change
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

NAME = "dgxspark-big-0-r0"
LABELS = {containers.DIGEST_LABEL: "d1", containers.GENERATION_LABEL: "g1"}
RANK = {"supervision": {"container": NAME, "generation": "g1"}, "container": {"name": NAME, "labels": LABELS}}
LIMITS = {"memory_floor": "4294967296", "peer_timeout": 2.5}
FILES = {"program": b"program", "ray_rank": b"ray", "unit": b"unit"}
DIGESTS = {kind: rank_state.sha256(content) for kind, content in FILES.items()}


def container(name: str = NAME, **values: Any) -> Container:
    base = {
        "status": "running",
        "exit_code": 0,
        "oom_killed": False,
        "deployment": "big",
        "replica": "big-0",
        "api": "",
    }
    more = {"id": f"id-{name}", "generation": "g1", "spec_digest": "d1", "image": "acme/vllm:1", "image_id": "i1"}
    return Container(name=name, **{**base, **more, **values})


def host(root: Path, active: str = "active", enabled: str = "enabled", live: dict[str, Any] | None = None) -> Host:
    """A host on which everything is as wanted, but for what is said."""
    made = Host(HostPaths(root), lambda argv: (0, {"is-active": active, "is-enabled": enabled}[argv[1]], ""))
    made.put(made.paths.spec(NAME), change.spec_text(rank_state.supervision(RANK, LIMITS)))
    for kind, path in rank_state.shared_files(made).items():
        made.put(path, FILES[kind])
    made.put(made.paths.live(NAME), json.dumps(live or {"phase": "serving"}).encode())
    return made


def look(there: Host, found: list[Container], image_id: str = "i1", replace: bool = False) -> rank_state.RankState:
    return rank_state.look(there, RANK, LIMITS, found, image_id, DIGESTS, replace)


def test_as_wanted(tmp_path: Path) -> None:
    state = look(host(tmp_path), [container(), container("web", deployment="")])
    assert (state.reasons, state.replace) == ([], False)
    assert [(one.name, one.keep_running) for one in state.present] == [(NAME, True)]
    assert look(host(tmp_path), [container()], image_id="").reasons == []


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"spec_digest": "d0"}, "its options changed (spec digest d0, wanted d1)"),
        ({"spec_digest": ""}, "its options changed (spec digest none, wanted d1)"),
        ({"generation": "g0"}, "another rank changed (generation g0, wanted g1)"),
        ({"image_id": "i0"}, "acme/vllm:1 is another image now"),
    ],
)
def test_a_container_that_must_be_made_anew(tmp_path: Path, values: dict[str, str], reason: str) -> None:
    state = look(host(tmp_path), [container(**values)])
    assert (state.reasons, state.replace) == ([reason], True)
    assert [(one.container_changed, one.keep_running) for one in state.present] == [(True, False)]


@pytest.mark.parametrize(
    ("active", "enabled", "live", "reason", "keep"),
    [
        ("failed", "enabled", None, "its unit is failed", False),
        (
            "active",
            "enabled",
            {"phase": "down", "reason": "5 restarts in 3600 s"},
            "it stays down: 5 restarts in",
            False,
        ),
        ("active", "disabled", None, "it does not start at boot", True),
    ],
)
def test_a_container_that_nobody_keeps_alive(
    tmp_path: Path, active: str, enabled: str, live: dict[str, Any] | None, reason: str, keep: bool
) -> None:
    state = look(host(tmp_path, active, enabled, live), [container()])
    assert len(state.reasons) == 1
    assert state.reasons[0].startswith(reason)
    assert not state.replace
    assert [(one.container_changed, one.keep_running) for one in state.present] == [(False, keep)]


def test_new_limits_and_a_new_supervisor_do_not_touch_the_engine(tmp_path: Path) -> None:
    there = host(tmp_path)
    there.put(there.paths.spec(NAME), b"{}")
    there.put(there.paths.program, b"older")
    state = look(there, [container()])
    assert state.reasons == ["its supervision changed", f"{there.paths.program} is of another version"]
    assert [(one.container_changed, one.keep_running) for one in state.present] == [(False, True)]


def test_others_of_ours_make_room(tmp_path: Path) -> None:
    state = look(host(tmp_path), [container(), container("dgxspark-chat-0-r0", status="exited")])
    assert state.reasons == ["it is not alone: dgxspark-chat-0-r0"]
    assert [(one.name, one.container_changed, one.running) for one in state.present] == [
        (NAME, False, True),
        ("dgxspark-chat-0-r0", True, False),
    ]


def test_nothing_there(tmp_path: Path) -> None:
    state = look(Host(HostPaths(tmp_path), lambda argv: (0, "", "")), [])
    assert (state.reasons, state.replace, state.present) == ([f"there is no container {NAME}"], True, [])


def test_another_ranks_change_makes_this_container_anew(tmp_path: Path) -> None:
    state = look(host(tmp_path), [container()], replace=True)
    assert state.replace
    assert [(one.container_changed, one.keep_running) for one in state.present] == [(True, False)]


def test_limits_that_came_as_text() -> None:
    assert rank_state.supervision(RANK, LIMITS)["limits"] == {"memory_floor": 4294967296, "peer_timeout": 2.5}
