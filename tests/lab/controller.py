# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user at the controller: what he runs, and what he finds on the two hosts of the lab."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.lab import Lab

CHECKOUT = Path(__file__).parents[2]
HOSTS = ("spark1", "spark2")


@dataclass(frozen=True)
class Ended:
    """A run of ansible-playbook; ``text`` has its line breaks folded into blanks, for messages are wrapped."""

    code: int
    text: str
    changed: int


class Controller:
    """A user at the controller."""

    def __init__(self, lab: Lab, inventory: Path, environment: dict[str, str]) -> None:
        self.lab = lab
        self.inventory = inventory
        self.environment = {**os.environ, **environment, "ANSIBLE_NOCOLOR": "1"}
        # The one of the caller, if any, would hide that ansible.cfg is found from both folders.
        self.environment.pop("ANSIBLE_CONFIG", None)
        self.good: list[str] = []

    def play(self, playbook: str, *arguments: str, folder: Path = CHECKOUT) -> Ended:
        argv = ["ansible-playbook", "-i", str(self.inventory), playbook, *arguments]
        done = subprocess.run(
            argv,
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        text = done.stdout + done.stderr
        changed = sum(int(count) for count in re.findall(r"changed=(\d+)", done.stdout))
        return Ended(done.returncode, " ".join(text.split()), changed)

    def docker(self, host: str, *arguments: str) -> str:
        code, out, err = self.lab.run(host, ["docker", *arguments])
        assert code == 0, err
        return out.strip()

    def engines(self) -> list[str]:
        """Each container of both hosts with its start: unchanged means untouched."""
        line = "{{.Name}} {{.State.Status}} {{.Id}} {{.State.StartedAt}}"
        look = f"docker ps --all --quiet | xargs --no-run-if-empty docker inspect --format '{line}'"
        found = []
        for host in HOSTS:
            code, out, err = self.lab.run(host, ["sh", "-c", look])
            assert code == 0, err
            found += out.splitlines()
        return found

    def containers(self) -> list[str]:
        return [line.split()[0].removeprefix("/") for line in self.engines()]

    def root(self, host: str, *argv: str) -> str:
        code, out, err = self.lab.run(host, argv, user="root")
        assert code == 0, err
        return out

    def wait_until_serving(self, host: str, name: str, seconds: float = 120.0) -> None:
        """Wait until the engine is restarted by nobody but its supervisor."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            live = json.loads(self.root(host, "cat", f"/run/dgxspark-serving/{name}.json"))
            if live["phase"] == "serving" and live["restarts"] > 0:
                return
            time.sleep(0.5)
        pytest.fail(f"not serving again: {live}")

    def have_none(self) -> None:
        if self.engines():
            assert self.play("stop.yml").code == 0

    def have_both(self) -> None:
        """Deploy with the inventory's own variables, unless that is what runs already."""
        if not self.good or self.engines() != self.good:
            assert self.play("deploy-tp1.yml").code == 0
            self.are_good()

    def are_good(self) -> None:
        """Remember what runs as what the inventory's own variables give: no deployment has to make it so."""
        self.good = self.engines()

    def have_any(self) -> None:
        """Have an engine on each host, unless there is one of any version already."""
        if len(self.containers()) != len(HOSTS):
            self.have_both()
