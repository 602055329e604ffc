# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module replica_change on a host that pretends."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import containers
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import change, journal, lock
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused
from ansible_collections.dgxspark.serving.plugins.modules import replica_change
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.pretended_host import PretendedHost
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule

NAME = "dgxspark-big-0-r0"


class FakeDocker:
    """The containers of the pretended host, all with the labels of version 1."""

    def __init__(self, pretended: PretendedHost) -> None:
        self.pretended = pretended

    def containers(self) -> list[Container]:
        return [
            Container(
                name=box.name,
                status="running" if box.running else "exited",
                exit_code=0,
                oom_killed=False,
                deployment="big" if box.ours else "",
                replica="big-0",
                api="http://127.0.0.1:8000",
                id=identity,
                generation="v1",
                spec_digest="v1",
            )
            for identity, box in self.pretended.boxes.items()
        ]

    def image(self, name: str) -> None:
        return None


class Trial:
    """Calls of the module on one host."""

    def __init__(self, pretended: PretendedHost, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pretended = pretended
        pretended.now = replica_change.time.time()
        monkeypatch.setattr(replica_change, "Host", pretended.host)
        monkeypatch.setattr(replica_change, "Docker", lambda module: FakeDocker(pretended))
        monkeypatch.setattr(change, "PAUSE", 0)

    def call(self, state: str, version: str = "v1", check_mode: bool = False, **more: Any) -> dict[str, Any]:
        labels = {containers.DIGEST_LABEL: version, containers.GENERATION_LABEL: version}
        rank = {
            "supervision": {"container": NAME, "generation": version, "deployment": "big"},
            "container": {"name": NAME, "image": "acme/vllm:1", "labels": labels},
        }
        params = {
            "state": state,
            "rank": None if state == "absent" else rank,
            "limits": {"stop_timeout": 60},
            "replace": False,
            "deployment": "",
            "purge": False,
            "lease": 180,
            "window": 60,
            "run": "run-1",
            "by": "ann@laptop",
            "pid": 7,
            "force_lock": "",
            "program": base64.b64encode(b"program").decode(),
            "ray_rank": "ray",
            "unit": "unit",
            **more,
        }
        work = replica_change.Work(FakeModule(params, check_mode))
        with pytest.raises(Ended) as ended:
            getattr(work, state)()
        return ended.value.result

    def deploy(self, version: str = "v1", run: str = "run-1") -> None:
        self.call("begun", version, run=run)
        if NAME not in [box.name for box in self.pretended.boxes.values()]:
            self.pretended.add(f"id-{version}", NAME, running=False)
        self.start(run)

    def start(self, run: str = "run-1") -> bool:
        """What replica_ready does at its first look."""
        return change.start(self.pretended.host(), run, NAME)


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    return Trial(PretendedHost(tmp_path), monkeypatch)


@pytest.fixture
def serving(trial: Trial) -> Trial:
    """A host that serves version 1."""
    trial.deploy()
    trial.call("committed")
    return trial


def test_a_virgin_host(trial: Trial) -> None:
    began = trial.call("begun")
    assert (began["changed"], began["pending"], began["displaced"], began["run"]) == (True, False, [], "run-1")
    trial.pretended.add("id-v1", NAME, running=False)
    assert trial.start()
    assert trial.call("committed")["changed"]
    assert trial.pretended.units == {NAME: "active"}
    assert not trial.pretended.host().paths.lock.exists()


def test_check_mode_on_a_virgin_host_says_what_would_be_there(trial: Trial, tmp_path: Path) -> None:
    began = trial.call("begun", check_mode=True)
    assert began["changed"]
    assert [diff["after_header"].removeprefix(str(tmp_path)) for diff in began["diff"]] == [
        f"/etc/dgxspark-serving/replicas/{NAME}.json",
        "/etc/systemd/system/dgxspark-replica@.service",
    ]
    for state in ("committed", "reverted", "absent"):
        assert not trial.call(state, check_mode=True)["changed"]
    assert list(tmp_path.iterdir()) == []


def test_the_same_again_changes_nothing(serving: Trial) -> None:
    before = serving.pretended.snapshot()
    assert not serving.call("begun")["changed"]
    assert not serving.start()
    assert not serving.call("committed")["changed"]
    assert serving.pretended.snapshot() == before


def test_check_mode_says_what_would_make_room(serving: Trial) -> None:
    before = serving.pretended.snapshot()
    began = serving.call("begun", "v2", check_mode=True)
    assert (began["changed"], began["displaced"]) == (True, [NAME])
    assert began["words"].startswith("its options changed (spec digest v1, wanted v2)")
    assert began["diff"][-1]["after_header"] == "ranks"
    assert serving.pretended.snapshot() == before


def test_check_mode_leaves_an_interrupted_change_as_it_is(serving: Trial) -> None:
    serving.call("begun", "v2", window=0)
    serving.pretended.run(["systemctl", "is-active", f"dgxspark-replica@{NAME}.service"])  # it has stopped now
    before = serving.pretended.snapshot()
    assert serving.call("begun", "v2", check_mode=True, run="run-2", force_lock="run-1")["changed"]
    assert serving.call("begun", "v2", check_mode=True)["changed"]
    assert serving.pretended.snapshot() == before


def test_new_limits_leave_the_engine_alone(serving: Trial) -> None:
    serving.pretended.commands.clear()
    began = serving.call("begun", limits={"stop_timeout": 90})
    assert (began["changed"], began["displaced"]) == (True, [])
    assert journal.read(serving.pretended.host().paths) is None
    acts = [command for command in serving.pretended.commands if "is-" not in command]
    assert acts == [f"systemctl reload dgxspark-replica@{NAME}.service"]
    assert not serving.start()


def test_a_new_version_that_fails_leaves_the_old_one_serving(serving: Trial) -> None:
    before = serving.pretended.snapshot()
    serving.deploy("v2")
    back = serving.call("reverted", "v2")
    assert back["came_back"] == {"container": NAME, "api": "http://127.0.0.1:8000", "key_file": ""}
    assert back["words"] == f"{NAME} was started again."
    assert serving.pretended.snapshot() == before
    assert not serving.call("reverted", "v2")["changed"]


def test_a_first_version_that_fails_leaves_nothing(trial: Trial) -> None:
    trial.deploy()
    back = trial.call("reverted")
    assert (back["came_back"], back["words"]) == ({}, "Nothing ran here before, and nothing runs here now.")
    assert trial.pretended.boxes == {}


def test_replace_makes_an_equal_container_anew(serving: Trial) -> None:
    assert serving.call("begun", replace=True)["displaced"] == [NAME]
    assert [box.name for box in serving.pretended.boxes.values()] == [f"{NAME}-previous"]


def test_what_takes_longer_than_the_window_is_pending(serving: Trial) -> None:
    began = serving.call("begun", "v2", window=0)
    assert (began["pending"], began["words"], began["displaced"]) == (True, f"{NAME} stops", [NAME])
    serving.pretended.run(["systemctl", "is-active", f"dgxspark-replica@{NAME}.service"])
    began = serving.call("begun", "v2", window=0)
    assert (began["pending"], began["displaced"]) == (False, [NAME])


def test_another_runs_lock(trial: Trial) -> None:
    trial.call("begun")
    ended = trial.call("begun", run="run-2", by="bob@desk")
    assert ended["failed"]
    assert ended["msg"].startswith("another run of dgxspark.serving by ann@laptop is changing this host since")
    assert ended["lock"]["pid"] == 7
    assert trial.call("absent", run="run-2")["failed"]
    assert trial.call("begun", run="run-2", force_lock="run-1")["changed"]
    assert lock.read(trial.pretended.host().paths).run == "run-2"


def test_what_an_interrupted_run_left_is_taken_back_first(serving: Trial) -> None:
    serving.deploy("v2", run="run-1")
    began = serving.call("begun", run="run-2", force_lock="run-1")
    assert not began["changed"]
    assert [box.name for box in serving.pretended.boxes.values()] == [NAME]
    assert serving.pretended.host().read_json(serving.pretended.host().paths.spec(NAME))["generation"] == "v1"


def test_d06_a_strangers_container_is_refused(trial: Trial) -> None:
    trial.pretended.add("id-web", NAME, ours=False)
    work = replica_change.Work(FakeModule({**trial_params(), "run": "run-1"}, True))
    with pytest.raises(Refused, match=f"^found a container {NAME} \\(running\\) that dgxspark.serving did not make"):
        work.begun()


def trial_params() -> dict[str, Any]:
    return {
        "state": "begun",
        "rank": {"container": {"name": NAME, "image": "x", "labels": {}}},
        "lease": 180,
        "force_lock": "",
        "window": 8,
        "by": "ann@laptop",
        "pid": 7,
    }


def test_absent(serving: Trial) -> None:
    assert not serving.call("absent", deployment="other")["changed"]
    assert serving.call("absent", check_mode=True)["words"] == f"removed {NAME}"
    assert serving.pretended.boxes
    assert serving.call("absent", deployment="big")["changed"]
    assert serving.pretended.boxes == {}
    paths = serving.pretended.host().paths
    assert paths.program.exists()
    assert not serving.call("absent")["changed"]
    assert serving.call("absent", purge=True)["changed"]
    assert not any(path.exists() for path in (paths.library, paths.unit, paths.states, paths.run))
    assert not serving.call("absent", purge=True)["changed"]
