# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our playbooks as child processes of a playbook: with its inventory, variables and connection, and a log of their own.

A child is given what the user gave to the parent. Secrets among the extra variables go into a file that only its owner
can read and that is removed afterwards, never into a command line, which every user of the machine can see.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.utils.collection_loader import AnsibleCollectionConfig

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites import playbook_output
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault

COLLECTION = "dgxspark.serving"
# Seconds between two lines about a child that runs, and between two looks at it.
PROGRESS_S = 5.0
LOOK_S = 0.25
# What a child that was asked to end gets before it is ended.
GRACE_S = 60.0

# Options of the command line that a child is given too: by their name there, and the option. Lists are repeated.
_PASSED = {
    "subset": "--limit",
    "remote_user": "--user",
    "private_key_file": "--private-key",
    "connection": "--connection",
    "timeout": "--timeout",
    "ssh_common_args": "--ssh-common-args",
    "ssh_extra_args": "--ssh-extra-args",
    "sftp_extra_args": "--sftp-extra-args",
    "scp_extra_args": "--scp-extra-args",
    "become_method": "--become-method",
    "become_user": "--become-user",
    "become_password_file": "--become-password-file",
    "connection_password_file": "--connection-password-file",
    "forks": "--forks",
    "vault_password_files": "--vault-password-file",
    "vault_ids": "--vault-id",
    "skip_tags": "--skip-tags",
    "module_path": "--module-path",
}
# What was asked of the user at a terminal: the option, and what does the same without asking.
_ASKED = {
    "ask_pass": ("--ask-pass", "--connection-password-file FILE, or use a key"),
    "become_ask_pass": ("--ask-become-pass", "--become-password-file FILE"),
    "ask_vault_pass": ("--ask-vault-pass", "--vault-password-file FILE"),
}


@dataclass(frozen=True)
class Parent:
    """What parent and children share.

    :ivar inventories: sources of the inventory, as they were given with ``-i``
    :ivar options: the parent's command line, by the names that Ansible has for its options
    :ivar extra: what was given with ``-e``
    """

    inventories: Sequence[str]
    options: Mapping[str, Any]
    extra: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit status, all that it printed, and the file that holds it."""

    code: int
    text: str
    log: str


class Interrupted(Exception):
    """The user, or the end of the parent, has asked for the end."""


def asked_passwords(options: Mapping[str, Any]) -> list[Fault]:
    """Passwords that the user has typed: they cannot be passed on."""
    asked = [(option, instead) for name, (option, instead) in _ASKED.items() if options.get(name)]
    vaults = [str(vault) for vault in options.get("vault_ids") or () if str(vault).rpartition("@")[2] == "prompt"]
    asked += [(f"--vault-id {vault}", f"--vault-id {vault.rpartition('@')[0] or 'default'}@FILE") for vault in vaults]
    return [
        Fault(
            option, "a password that is asked for", "one that playbooks started by this one can read", f"Give {instead}"
        )
        for option, instead in asked
    ]


def arguments(parent: Parent, playbook: str, variables: Sequence[str], check: bool = False) -> list[str]:
    """The command line of a child.

    :param playbook: name of a playbook of this collection, or the path of another
    :param variables: files of extra variables; of two with the same name the later wins
    """
    name = playbook if "/" in playbook else f"{COLLECTION}.{playbook}"
    # By its module: the commands of an installation need not be on the path, nor have metadata.
    argv = [sys.executable, "-m", "ansible.cli.playbook", name]
    for source in parent.inventories:
        argv += ["--inventory", source]
    for name, option in _PASSED.items():
        value = parent.options.get(name)
        values = value if isinstance(value, (list, tuple)) else [value]
        # An empty limit or key is as good as none.
        argv += [f"{option}={one}" for one in values if one not in (None, "", False)]
    if parent.options.get("become"):
        argv.append("--become")
    for path in variables:
        argv += ["--extra-vars", f"@{path}"]
    return [*argv, "--check"] if check else argv


def environment() -> dict[str, str]:
    """The parent's environment, the same configuration and collections, and output that can be read."""
    found = {**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default"}
    found.update({"ANSIBLE_DISPLAY_OK_HOSTS": "1", "PYTHONUNBUFFERED": "1", "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml"})
    found.pop("ANSIBLE_FORCE_COLOR", None)
    if constants.config._config_file:
        found["ANSIBLE_CONFIG"] = os.path.abspath(constants.config._config_file)
    with contextlib.suppress(NotImplementedError):
        found["ANSIBLE_COLLECTIONS_PATH"] = os.pathsep.join(AnsibleCollectionConfig.collection_paths)
    return found


@contextlib.contextmanager
def variables_file(variables: Mapping[str, Any]) -> Iterator[str]:
    """A file of extra variables that nobody else can read, for as long as it is needed."""
    folder = tempfile.mkdtemp(prefix="dgxspark-benchmark-")
    try:
        path = Path(folder, "variables.json")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(_plain(variables), file)
        yield str(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class ChildPlaybooks:
    """Runs children one after the other.

    :ivar over: says whether to end; asked between two looks at a child
    :ivar say: takes a line of progress
    """

    def __init__(self, parent: Parent, over: Callable[[], bool], say: Callable[[str], None]) -> None:
        self.parent = parent
        self.over = over
        self.say = say

    def run(
        self,
        playbook: str,
        variables: Mapping[str, Any],
        log: Path,
        what: str,
        *,
        check: bool = False,
        whatever: bool = False,
    ) -> Ended:
        """Run a playbook to its end.

        It has a session of its own, so that an interrupt of the parent does not reach it unasked.

        :param what: words for the lines of progress: ``Block 2 of 8 (tp2): deploying``
        :param check: in check mode
        :param whatever: go on when the run is over: what is restored must not be left half done
        :raises Interrupted: the run is over; the child has ended
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        with variables_file(variables) as path, log.open("w+", encoding="utf-8", errors="replace") as output:
            argv = arguments(self.parent, playbook, [path], check)
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment(),
                start_new_session=True,
            )
            try:
                self._wait(child, log, what, whatever)
            except BaseException:
                _end(child)
                raise
        return Ended(child.returncode, log.read_text(encoding="utf-8", errors="replace"), str(log))

    def _wait(self, child: subprocess.Popen[bytes], log: Path, what: str, whatever: bool) -> None:
        began = time.monotonic()
        said = began - PROGRESS_S
        while child.poll() is None:
            if not whatever and self.over():
                raise Interrupted(what)
            now = time.monotonic()
            if now - said >= PROGRESS_S:
                said = now
                task = playbook_output.last_task(log.read_text(encoding="utf-8", errors="replace"))
                self.say(f"{what}: {now - began:.0f} s{', ' if task else ''}{task}")
            time.sleep(LOOK_S)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ask a child to end as its user would, and end it when it does not."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(GRACE_S)


def _plain(value: Any) -> Any:
    """The value as JSON knows it: Ansible's own strings, numbers and containers without what it has put on them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)
