# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks as child processes: the command line, what is refused, and a real one on localhost."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.plugin_utils import child_playbook
from ansible_collections.dgxspark.serving.plugins.plugin_utils.child_playbook import (
    ChildPlaybooks,
    Interrupted,
    Parent,
    arguments,
    asked_passwords,
    variables_file,
)

# Names of the options as Ansible has them when nothing was given.
UNSET = {
    "subset": None,
    "private_key_file": None,
    "remote_user": None,
    "become": False,
    "become_user": None,
    "forks": 32,
    "vault_password_files": [],
    "vault_ids": [],
    "skip_tags": (),
    "ssh_common_args": "",
    "ask_pass": False,
}


def parent(inventory: str, **options: Any) -> Parent:
    return Parent([inventory], {**UNSET, **options}, {})


def test_a_child_has_the_inventory_and_the_connection_of_its_parent() -> None:
    given = {
        "subset": "spark1,spark2",
        "private_key_file": "/home/u/.ssh/id",
        "remote_user": "nvidia",
        "become": True,
        "vault_password_files": ["a.txt", "b.txt"],
        "skip_tags": ("preflight",),
        "ssh_common_args": "-o ProxyJump=gate",
    }
    argv = arguments(
        Parent(["inventories/lab", "more.yml"], {**UNSET, **given}, {}), "deploy_tp1", ["/tmp/x.json"], True
    )
    assert argv[1:3] == ["-m", "ansible.cli.playbook"]
    assert argv[3:] == [
        "dgxspark.serving.deploy_tp1",
        "--inventory",
        "inventories/lab",
        "--inventory",
        "more.yml",
        "--limit=spark1,spark2",
        "--user=nvidia",
        "--private-key=/home/u/.ssh/id",
        "--ssh-common-args=-o ProxyJump=gate",
        "--forks=32",
        "--vault-password-file=a.txt",
        "--vault-password-file=b.txt",
        "--skip-tags=preflight",
        "--become",
        "--extra-vars",
        "@/tmp/x.json",
        "--check",
    ]


def test_what_was_not_given_is_not_passed_on() -> None:
    assert arguments(parent("inv"), "stop", [])[3:] == ["dgxspark.serving.stop", "--inventory", "inv", "--forks=32"]


@pytest.mark.parametrize(
    "options, refused",
    [
        ({}, []),
        ({"become_password_file": "f", "vault_ids": ["dev@file"]}, []),
        ({"ask_pass": True, "become_ask_pass": True}, ["--ask-pass", "--ask-become-pass"]),
        ({"ask_vault_pass": True}, ["--ask-vault-pass"]),
        ({"vault_ids": ["dev@prompt", "prod@file", "prompt"]}, ["--vault-id dev@prompt", "--vault-id prompt"]),
    ],
)
def test_passwords_that_were_typed_are_refused(options: dict[str, Any], refused: list[str]) -> None:
    assert [fault.variable for fault in asked_passwords({**UNSET, **options})] == refused


def test_extra_variables_are_in_a_file_of_their_owners_alone_that_goes_away() -> None:
    with variables_file({"gateway_api_keys": ["s3cret"], "n": 1, "f": 0.5, "none": None, "on": True}) as path:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(Path(path).parent).st_mode) == 0o700
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        assert found == {"gateway_api_keys": ["s3cret"], "n": 1, "f": 0.5, "none": None, "on": True}
    assert not Path(path).parent.exists()


def test_secrets_are_in_no_words_of_the_parent() -> None:
    assert "s3cret" not in repr(Parent(["i"], {}, {"key": "s3cret"}))


@pytest.fixture
def inventory(tmp_path: Path) -> str:
    path = tmp_path / "hosts.yml"
    host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {"all": {"children": {"sparks": {"hosts": {"localhost": host}}}}}
    path.write_text(json.dumps(hosts), encoding="utf-8")
    return str(path)


def play(tmp_path: Path, tasks: str) -> str:
    path = tmp_path / "play.yml"
    path.write_text(f"- hosts: sparks\n  gather_facts: false\n  tasks:\n{tasks}", encoding="utf-8")
    return str(path)


TASKS = """\
    - name: Say what was given
      ansible.builtin.assert: {that: "colour == 'red'"}
      changed_when: true
    - name: Wait
      ansible.builtin.command: sleep {{ seconds }}
      changed_when: false
"""


def test_a_real_child_ends_with_its_recap_and_says_how_far_it_is(tmp_path: Path, inventory: str) -> None:
    lines: list[str] = []
    children = ChildPlaybooks(parent(inventory), lambda: False, lines.append)
    log = tmp_path / "blocks" / "01-deploy.log"
    ended = children.run(play(tmp_path, TASKS), {"colour": "red", "seconds": 0}, log, "Block 1 of 2 (tp1)")
    assert ended.code == 0, ended.text
    assert child_playbook.playbook_output.recap(ended.text).changed == {"localhost": 1}
    assert log.read_text(encoding="utf-8") == ended.text
    assert lines[0].startswith("Block 1 of 2 (tp1): 0 s")


def test_a_child_that_is_not_there_ends_with_its_words(tmp_path: Path, inventory: str) -> None:
    ended = ChildPlaybooks(parent(inventory), lambda: False, print).run("none/there.yml", {}, tmp_path / "log", "x")
    assert ended.code != 0
    assert "none/there.yml" in ended.text


@pytest.mark.parametrize("whatever", [False, True])
def test_an_interrupt_ends_the_child_unless_it_restores(tmp_path: Path, inventory: str, whatever: bool) -> None:
    log = tmp_path / "log"

    def over() -> bool:
        return log.exists() and "TASK [Wait]" in log.read_text(encoding="utf-8")

    children = ChildPlaybooks(parent(inventory), over, print)
    path = play(tmp_path, TASKS)
    began = time.monotonic()
    if whatever:
        assert children.run(path, {"colour": "red", "seconds": 1}, log, "x", whatever=True).code == 0
    else:
        with pytest.raises(Interrupted):
            children.run(path, {"colour": "red", "seconds": 600}, log, "x")
        assert time.monotonic() - began < 300
        assert "User interrupted execution" in log.read_text(encoding="utf-8")
