# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the module `fanout`: what it refuses, what it says without changing anything, and a copy as a job."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import basic

from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.modules import fanout
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.fanout.fanout_hosts import (
    free_port,
    lay,
    manifest_of,
)

FILES = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 4096}
MANIFEST = manifest_of(FILES)


class Ended(Exception):
    """The module has answered."""


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    def end(_module: object, **result: Any) -> None:
        raise Ended(result)

    monkeypatch.setattr(folders, "jobs_root", lambda: tmp_path / "jobs")
    monkeypatch.setattr(basic.AnsibleModule, "exit_json", end)
    monkeypatch.setattr(basic.AnsibleModule, "fail_json", end)
    yield
    for name in ("source", "target"):
        JobFolder(name).end()


def call(monkeypatch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    """What the module answers."""
    arguments = json.dumps({"ANSIBLE_MODULE_ARGS": options}).encode()
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", arguments)
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
    with pytest.raises(Ended) as ended:
        fanout.main()
    return dict(ended.value.args[0])


def test_all_that_is_wrong_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = call(monkeypatch, listen=["spark1"], port=80, streams=0)
    assert answer["msg"] == (
        "manifest is needed. root is needed. token is needed, of letters and digits. upstreams is needed, with an "
        "address for each host. 'spark1' is no IP address. port is 80, wanted 1024 to 65535. streams is 0, wanted"
        " 1 to 64."
    )


def test_a_manifest_that_leads_out_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = call(monkeypatch, stage="check", root=str(tmp_path), manifest=manifest_of({"../x": b""}))
    assert answer["msg"].startswith("The manifest is refused: '../x' is no path inside the model's folder")


@pytest.mark.parametrize(("stage", "check_mode", "changed"), [("check", False, False), ("copy", True, True)])
def test_a_look_says_what_is_missing_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stage: str, check_mode: bool, changed: bool
) -> None:
    more = {"upstreams": [["127.0.0.2"]], "token": "abc", "_ansible_check_mode": check_mode}
    answer = call(monkeypatch, stage=stage, root=str(tmp_path / "tiny"), manifest=MANIFEST, **more)
    assert (answer["changed"], answer["needed"], answer["problems"]) == (changed, 2 + (1 << 20), [])
    assert not list(tmp_path.iterdir())


def test_a_copy_is_followed_by_asking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lay(tmp_path / "source/tiny", FILES)
    common = {"manifest": MANIFEST, "port": free_port(), "token": "abc"}
    answer = call(
        monkeypatch,
        stage="serve",
        root=str(tmp_path / "source/tiny"),
        listen=["127.0.0.2"],
        peers=["127.0.0.1"],
        job_id="source",
        **common,
    )
    assert (answer["changed"], answer["job"]["state"]) == (False, "done")
    target = {**common, "root": str(tmp_path / "target/tiny"), "upstreams": [["127.0.0.2"]], "job_id": "target"}
    answer = call(monkeypatch, **target, job_wait=0)
    while answer["job"]["state"] == "running":
        answer = call(monkeypatch, **target, job_stage="poll")
    assert (answer["changed"], answer["received"], answer["kept"]) == (True, 2 + (1 << 20), 0)
    assert {path.name: path.read_bytes() for path in (tmp_path / "target/tiny").iterdir()} == FILES
    call(monkeypatch, job_stage="stop", job_id="source")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", common["port"]))
