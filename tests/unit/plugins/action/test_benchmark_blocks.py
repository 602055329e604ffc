# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge of the blocks: what it refuses, and a real run with tiny playbooks of the same names."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible import context
from ansible.module_utils.common.collections import ImmutableDict

from ansible_collections.dgxspark.serving.plugins.action import benchmark_blocks

LAYOUTS = {
    "variants": [{"name": "tp1", "playbook": "deploy_tp1"}, {"name": "tp2", "playbook": "deploy_tp2"}],
    "rounds": 1,
}
LOOK = {"containers": [{"deployment": "tp1", "replica": "tp1-0", "status": "running"}]}
COLLECTION = Path(benchmark_blocks.__file__).resolve().parents[2]


def run(
    monkeypatch: pytest.MonkeyPatch,
    *,
    extra: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    looks: tuple[Any, ...] = (LOOK, LOOK),
    check_mode: bool = False,
    **arguments: Any,
) -> dict[str, Any]:
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict(options or {}))
    monkeypatch.setattr(benchmark_blocks, "load_extra_vars", lambda _loader: extra or {})
    hostvars = {f"spark{number}": {"here": look} for number, look in enumerate(looks, 1)}
    given = {"blocks": LAYOUTS, "run": {"id": "r"}, "results": "r", "running_variable": "here", **arguments}
    task = MagicMock(args=given, check_mode=check_mode, async_val=0)
    make = benchmark_blocks.ActionModule
    plugin = make(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
    return plugin.run(
        task_vars={
            "hostvars": hostvars,
            "ansible_play_hosts_all": list(hostvars),
            "ansible_inventory_sources": ["inventories/lab"],
        }
    )


def test_in_check_mode_the_sequence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(benchmark_blocks, "show", shown.extend)
    said = run(monkeypatch, check_mode=True)
    assert shown == [said["msg"]]
    assert (said["changed"], said["skipped"], said["sequence"]) == (False, True, ["tp1", "tp2"])
    assert said["msg"] == "Would deploy and measure tp1, tp2, and restore what runs now."


def test_all_that_is_wrong_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    variants = [{"name": "mp", "extra_vars": {"backend": "mp"}}, {"name": "tp2", "playbook": "deploy_tp2"}]
    said = run(
        monkeypatch,
        blocks={"variants": variants, "rounds": 1},
        extra={"serving_backend": "ray"},
        options={"become_ask_pass": True},
        looks=(LOOK, LOOK, {"msg": "no route"}),
    )
    assert said["failed"]
    assert "has 4 errors; nothing was changed" in said["msg"]
    # The role lets the task pass, reports, and fails by this.
    assert said["failure"] == said["msg"]
    for words in (
        "also given as -e serving_backend",
        "found 3 (spark1, spark2, spark3)",
        "--ask-become-pass",
        "no route",
    ):
        assert words in said["msg"]


def test_what_runs_need_not_be_known_where_nothing_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "failed" not in run(monkeypatch, looks=(LOOK, {}), restore=False, check_mode=True)


# The playbooks of the collection, as tiny as they can be. Each says who it is into a file of the test's.
TINY = """\
- hosts: sparks
  gather_facts: false
  tasks:
    - name: Note it
      ansible.builtin.shell: echo {playbook} {{{{ benchmark_block | default('-') }}}} >> {folder}/calls
      when: not ansible_check_mode and not serving_explain | default(false)
      changed_when: false
    - name: Measure
      ansible.builtin.shell: >-
        mkdir -p {{{{ benchmark_results }}}}/run/rounds && cp {folder}/result.json {{{{ benchmark_results }}}}/run/
      when: {measures}
      changed_when: false
    - name: Take its time
      ansible.builtin.command: sleep {{{{ seconds }}}}
      when: {measures}
      changed_when: false
"""
PLAY = """\
- hosts: sparks
  gather_facts: false
  tasks:
    - name: Compare
      dgxspark.serving.benchmark_blocks:
        blocks: {blocks}
        run: {{id: whole}}
        results: {folder}/results
        running_variable: here
      register: found
    - name: Keep it
      ansible.builtin.copy: {{content: "{{{{ found }}}}", dest: {folder}/found.json}}
"""


class Tiny:
    """A collection of the same name whose playbooks do nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        root = folder / "collections" / "ansible_collections" / "dgxspark" / "serving"
        (root / "playbooks").mkdir(parents=True)
        for name in ("plugins", "galaxy.yml", "meta"):
            (root / name).symlink_to(COLLECTION / name)
        for playbook in ("deploy_tp1", "deploy_tp2", "benchmark", "stop"):
            measures = "true" if playbook == "benchmark" else "false"
            text = TINY.format(playbook=playbook, folder=folder, measures=measures)
            (root / "playbooks" / f"{playbook}.yml").write_text(text, encoding="utf-8")
        host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, "here": LOOK}
        inventory = {"all": {"children": {"sparks": {"hosts": {"spark1": host}}}}}
        (folder / "hosts.json").write_text(json.dumps(inventory), encoding="utf-8")
        result = {"run": {"id": "b"}, "targets": [], "cases": [], "deployments": [{"id": "main"}]}
        (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
        blocks = {**LAYOUTS, "variants": [{"name": "tp1", "playbook": "deploy_tp1"}, {"name": "tp2", "playbook": ""}]}
        play = PLAY.format(blocks=json.dumps(blocks), folder=folder)
        (folder / "play.yml").write_text(play, encoding="utf-8")

    def start(self, seconds: int) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder / "collections"),
            "ANSIBLE_NOCOLOR": "1",
        }
        argv = [sys.executable, "-m", "ansible.cli.playbook", "-i", str(self.folder / "hosts.json")]
        argv += [str(self.folder / "play.yml"), "-e", json.dumps({"seconds": seconds})]
        with (self.folder / "log").open("wb") as log:
            return subprocess.Popen(argv, stdout=log, stderr=log, env=environment, start_new_session=True)

    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")


def test_a_real_run_deploys_measures_and_restores(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path)
    assert tiny.start(0).wait(120) == 0, tiny.log()
    assert tiny.calls() == ["deploy_tp1 -", "benchmark tp1", "deploy_tp1 -", "benchmark tp2", "deploy_tp1 -"]
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert (found["finished"], found["failure"]) == (2, "")
    assert found["restored"] == "What ran before runs again (deploy_tp1)."
    assert "Block 2 of 2 (tp2): measuring: 0 s" in tiny.log()
    assert "2 blocks: tp1, tp2; their logs are in" in tiny.log()


def test_an_interrupt_of_a_real_run_restores_what_ran(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path)
    process = tiny.start(600)
    deadline = time.monotonic() + 120
    while "benchmark tp1" not in tiny.calls() and time.monotonic() < deadline:
        assert process.poll() is None, tiny.log()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) != 0
    assert tiny.calls() == ["deploy_tp1 -", "benchmark tp1", "deploy_tp1 -"]
    assert "User interrupted execution" in tiny.log()
