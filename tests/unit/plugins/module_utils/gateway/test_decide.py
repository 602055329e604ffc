# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be done to have the gateway as wanted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import decide, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.decide import Content, Here, Wanted
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import State

LISTEN = {"address": "0.0.0.0", "port": 8080, "tls": False}
FILES = {name: Content(b"x", 0o640) for name in ("haproxy.cfg", "keys.map", "start", "rendered.json")}
UP = State(active="active", enabled=True, pid=7)
OFF = State()
WANTED = Wanted(FILES, {units.FRONT: "front"}, LISTEN)
SAME = Here(True, FILES, {units.FRONT: "front"}, {units.FRONT: UP, units.ROUTER: OFF}, LISTEN, [])
VIRGIN = Here(False, {}, {}, {units.FRONT: OFF, units.ROUTER: OFF}, {}, [])


def changed(*names: str) -> dict[str, Content]:
    return {**FILES, **{name: Content(b"other", 0o640) for name in names}}


def test_nothing_is_due() -> None:
    due = decide.decide(SAME, WANTED)
    assert (due.reasons, due.acts, due.files, due.later) == ([], {}, [], "")


def test_all_is_due_on_a_virgin_host() -> None:
    due = decide.decide(VIRGIN, WANTED)
    assert due.reasons[0] == "there is no user dgxspark-gateway"
    assert (due.write, due.enable, due.acts) == ([units.FRONT], [units.FRONT], {units.FRONT: "start"})
    assert not due.take_up


@pytest.mark.parametrize(
    ("files", "act"),
    [(["haproxy.cfg"], "reload"), (["keys.map"], "reload"), (["start"], "restart"), (["rendered.json"], "reload")],
)
def test_a_changed_file(files: list[str], act: str) -> None:
    due = decide.decide(replace(SAME, files=changed(*files)), WANTED)
    assert due.acts == {units.FRONT: act}
    assert due.reasons == [f"{name} is changed" for name in files]


def test_a_file_for_other_eyes_is_a_changed_one() -> None:
    due = decide.decide(replace(SAME, files={**FILES, "keys.map": Content(b"x", 0o644)}), WANTED)
    assert due.files == ["keys.map"]


def test_it_starts_anew_to_listen_elsewhere() -> None:
    due = decide.decide(replace(SAME, files=changed("haproxy.cfg"), listen={**LISTEN, "port": 80}), WANTED)
    assert due.acts == {units.FRONT: "restart"}


@pytest.mark.parametrize(
    ("state", "act"), [(OFF, "start"), (State(active="failed"), "start"), (State(active="activating"), "restart")]
)
def test_a_unit_that_is_not_up(state: State, act: str) -> None:
    here = replace(SAME, states={**SAME.states, units.FRONT: replace(state, enabled=True)})
    assert decide.decide(here, WANTED).acts == {units.FRONT: act}


@pytest.mark.parametrize(
    ("containers", "take_up", "acts"),
    [([], True, {units.FRONT: "restart"}), (["dgxspark-chat-0-r0"], False, {}), (None, False, {})],
)
def test_d08_a_changed_unit_is_read_only_while_no_container_runs(
    containers: list[str] | None, take_up: bool, acts: dict[str, str]
) -> None:
    due = decide.decide(replace(SAME, units={units.FRONT: "older"}, containers=containers), WANTED)
    assert (due.write, due.take_up, due.acts) == ([units.FRONT], take_up, acts)
    assert ("GPU" in due.later) == (not take_up)
    assert "dgxspark-chat-0-r0" in due.later or containers != ["dgxspark-chat-0-r0"]


def routed(**here: Any) -> tuple[Here, Wanted]:
    files = {**FILES, "litellm.yaml": Content(b"x", 0o640)}
    both = {units.FRONT: "front", units.ROUTER: "router"}
    now = Here(True, files, both, {units.FRONT: UP, units.ROUTER: UP}, LISTEN, [])
    return replace(now, **here), Wanted(files, both, LISTEN)


def test_only_the_router_starts_anew_for_its_own_file() -> None:
    here, wanted = routed()
    due = decide.decide(replace(here, files={**here.files, "litellm.yaml": Content(b"y", 0o640)}), wanted)
    assert due.acts == {units.ROUTER: "restart"}


def test_the_router_goes_with_its_provider() -> None:
    here, _wanted = routed()
    due = decide.decide(here, WANTED)
    assert due.leaving == [units.ROUTER]
    assert due.reasons == ["litellm.yaml is gone", f"{units.ROUTER} is not wanted any more"]
    assert due.acts == {}
