# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A replica of two hosts as its user sees it: playbooks, the ranks' live states, and what its API generates."""

from __future__ import annotations

import datetime
import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.errors import LabError
from lab.lab import Lab
from tests.chaos.record import CHECKOUT

HOSTS = ("spark1", "spark2")
MODEL = "tiny-qwen3"
PORT = 8000
POLL_SECONDS = 0.25
#: Restarts are neither counted nor held back, so that each fault is measured alone; a dead run is noticed soon.
SETTINGS: dict[str, Any] = {"replica_restart_window": 1, "replica_restart_limit": 100, "replica_lease": 60}
LIVE = "/run/dgxspark-serving"
#: Lines of a run that did not hear Ctrl-C, this long after it was pressed.
GOES_ON = ("TASK [", "spark1: ")
DEAF_SECONDS = 1.0
#: After so long without an end it is stuck.
STUCK_SECONDS = 60.0
READY_LINE = "Application startup complete"


@dataclass(frozen=True)
class Ended:
    """A run of ansible-playbook; ``text`` has its line breaks folded into blanks, for messages are wrapped."""

    code: int
    text: str


@dataclass(frozen=True)
class Generated:
    """:ivar at: Unix time of the first token"""

    at: float
    fingerprint: str


@dataclass(frozen=True)
class Recovery:
    """:ivar seconds: from the fault to the first token; :ivar engine: the engine's own start in it, in seconds"""

    seconds: float
    engine: float
    noticed: str


def unix(stamp: str) -> float:
    """Return Docker's time stamp (nanoseconds, Z) as Unix seconds."""
    match = re.match(r"(\d+-\d+-\d+T\d+:\d+:\d+)(\.\d{1,6})?", stamp)
    assert match, stamp
    return datetime.datetime.fromisoformat(f"{match[0]}+00:00").timestamp()


class Pair:
    """The hosts spark1 (rank 0) and spark2 (rank 1), and their controller."""

    def __init__(self, lab: Lab, inventory: Path, environment: dict[str, str], limit: float) -> None:
        """`limit`: seconds after which anything that is waited for has failed, however slow the machine."""
        self.lab = lab
        self.inventory = inventory
        self.limit = limit
        # The variables that the last deployment gave, when it went well.
        self._has: dict[str, Any] | None = None
        self._environment = {**os.environ, **environment, "ANSIBLE_NOCOLOR": "1", "PYTHONUNBUFFERED": "1"}

    # -- the controller --------------------------------------------------------------------------------------------

    def command(
        self, playbook: str, variables: dict[str, Any] | None = None, inventory: Path | None = None
    ) -> list[str]:
        """Return the command line of a playbook."""
        extra = ["-e", json.dumps({**SETTINGS, **(variables or {})})]
        return ["ansible-playbook", "-i", str(inventory or self.inventory), playbook, *extra]

    def start(self, argv: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command as a terminal does: Ctrl-C reaches all of its processes."""
        self._has = None
        return subprocess.Popen(
            argv,
            cwd=CHECKOUT,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            # Whoever runs the tests in the background has them ignore Ctrl-C, and what they start would do so too.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def play(self, playbook: str, variables: dict[str, Any] | None = None, inventory: Path | None = None) -> Ended:
        """Run a playbook to its end."""
        running = self.start(self.command(playbook, variables, inventory))
        output, _none = running.communicate()
        self._has = dict(variables or {}) if running.returncode == 0 else None
        return Ended(running.returncode, " ".join(output.split()))

    def have_own(self) -> None:
        """Deploy with the inventory's own variables, unless that was done last."""
        if self._has != {}:
            ended = self.play("deploy-tp2.yml")
            assert ended.code == 0, ended.text
            self.wait_generating()

    def is_own(self) -> None:
        """Remember that what runs is what the inventory's own variables give."""
        self._has = {}

    def refused(self, variables: dict[str, Any] | None = None, inventory: Path | None = None) -> str:
        """Return what a deployment says that must be refused, and that must leave what runs alone."""
        has, before = self._has, self.runs()
        ended = self.play("deploy-tp2.yml", variables, inventory)
        assert ended.code != 0, ended.text
        assert "Traceback" not in ended.text
        assert self.runs() == before
        self._has = has
        return ended.text

    def interrupt(self, playbook: str, variables: dict[str, Any], mark: str) -> Ended:
        """Run a playbook, and press Ctrl-C when its output has a mark (a regular expression), until it is heard.

        Python drops a Ctrl-C that arrives in one of its fork handlers, and a run forks at the start of each task.
        Ansible can also wait for ever for a worker that the Ctrl-C has ended: then it is killed, as a person would do.
        """
        running = self.start(self.command(playbook, variables))
        assert running.stdout
        lines: list[str] = []
        pressed = 0.0
        killer: threading.Timer | None = None
        for line in running.stdout:
            lines.append(line)
            goes_on = pressed and line.startswith(GOES_ON) and time.monotonic() - pressed > DEAF_SECONDS
            if goes_on or (not pressed and re.search(mark, line)):
                os.killpg(running.pid, signal.SIGINT)
                pressed = time.monotonic()
                if killer:
                    killer.cancel()
                killer = threading.Timer(STUCK_SECONDS, os.killpg, (running.pid, signal.SIGKILL))
                killer.start()
        code = running.wait()
        if killer:
            killer.cancel()
        text = " ".join("".join(lines).split())
        assert pressed, f"the run never printed {mark!r}: {text}"
        return Ended(code, text)

    # -- the hosts -------------------------------------------------------------------------------------------------

    def ask(self, host: str, *argv: str, user: str = "root") -> str | None:
        """Return what a command prints; None when it fails or the host is away."""
        try:
            code, output, _error = self.lab.run(host, argv, user=user, timeout=self.limit)
        except LabError:
            return None
        return output if code == 0 else None

    def live(self, host: str) -> dict[str, Any]:
        """Return the live state of the rank on a host; empty when there is none."""
        text = self.ask(host, "sh", "-c", f"cat $(ls {LIVE}/dgxspark-*.json)")
        return json.loads(text) if text else {}

    def container(self, host: str) -> dict[str, Any]:
        """Return what Docker says of the rank's container on a host; empty when there is none."""
        text = self.ask(host, "sh", "-c", "docker inspect $(docker ps --all --quiet --filter name=^dgxspark-)")
        found = json.loads(text) if text else []
        return found[0] if len(found) == 1 else {}

    def runs(self) -> dict[str, tuple[str, str]]:
        """Return container and start of each host: unchanged means undisturbed."""
        found = {host: self.container(host) for host in HOSTS}
        return {host: (entry["Id"], entry["State"]["StartedAt"]) for host, entry in found.items() if entry}

    def started(self, host: str) -> float:
        """Return when the container of a host was started, in Unix seconds; 0 when there is none."""
        found = self.container(host)
        return unix(found["State"]["StartedAt"]) if found else 0.0

    def engine_start(self) -> float:
        """Return how long the engine of rank 0 took from its start until it said it is ready, in seconds."""
        found = self.container("spark1")
        started = found["State"]["StartedAt"]
        log = self.ask("spark1", "sh", "-c", f"docker logs --timestamps --since {started} {found['Id']} 2>&1") or ""
        ready = [line for line in log.splitlines() if READY_LINE in line]
        assert ready, log
        return unix(ready[-1]) - unix(started)

    # -- the API ---------------------------------------------------------------------------------------------------

    def generate(self, tokens: int = 4, seconds: float = 30.0) -> Generated | None:
        """Stream a completion; None when there is no token, an error, or an end too early. `seconds`: of silence."""
        connection = http.client.HTTPConnection(self.lab.address(self.lab.host("spark1")), PORT, timeout=seconds)
        body = {"model": MODEL, "prompt": "say something", "max_tokens": tokens, "ignore_eos": True, "stream": True}
        at, fingerprint = 0.0, ""
        try:
            connection.request("POST", "/v1/completions", json.dumps(body), {"content-type": "application/json"})
            response = connection.getresponse()
            if response.status != 200:
                return None
            for line in response:
                data = line.removeprefix(b"data: ").strip()
                if data == b"[DONE]":
                    return Generated(at, fingerprint) if at else None
                event = json.loads(data) if data else {}
                if "error" in event:
                    return None
                if event.get("choices"):
                    at = at or time.time()
                    fingerprint = event.get("system_fingerprint") or fingerprint
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            connection.close()
        return None

    @contextmanager
    def load(self) -> Iterator[None]:
        """Keep a long request running meanwhile; how it ends is of no interest."""
        worker = threading.Thread(target=self.generate, args=(1500, self.limit), daemon=True)
        worker.start()
        self.wait(lambda: (self.running_requests() or 0) > 0, "a request runs")
        yield

    def running_requests(self) -> float | None:
        """Return how many requests rank 0 works on, from /metrics."""
        text = self.ask("spark1", "curl", "--silent", "--max-time", "5", f"http://127.0.0.1:{PORT}/metrics")
        match = re.search(r"^vllm:num_requests_running\S* (\S+)$", text or "", re.MULTILINE)
        return float(match[1]) if match else None

    # -- waiting ---------------------------------------------------------------------------------------------------

    def wait(self, condition: Any, what: str) -> Any:
        """Return the first true value of a condition."""
        until = time.monotonic() + self.limit
        while time.monotonic() < until:
            value = condition()
            if value:
                return value
            time.sleep(POLL_SECONDS)
        states = "\n".join(f"{host}: {self.live(host)} {self.container(host).get('State')}" for host in HOSTS)
        return pytest.fail(f"{what}: not within {self.limit:.0f} s\n{states}")

    def serving(self) -> bool:
        """Say whether both ranks serve, as one group."""
        states = [self.live(host) for host in HOSTS]
        whole = all(state.get("phase") == "serving" for state in states)
        return whole and len({(state["generation"], state["epoch"]) for state in states}) == 1

    def wait_generating(self) -> Generated:
        """Wait until both ranks serve and the API generates over both of them."""
        self.wait(self.serving, "both ranks serve")
        made = self.wait(self.generate, "the API generates")
        assert "-tp2-" in made.fingerprint
        return made

    def recovered(self, fault_at: float) -> Recovery:
        """Wait until the whole group was started anew after a fault (Unix time) and generates."""
        reasons: list[tuple[float, str]] = []

        def anew() -> Generated | None:
            states = {host: self.live(host) for host in HOSTS}
            for state in states.values():
                last = state.get("last_restart")
                if last and last["at"] >= fault_at - 1:
                    reasons.append((last["at"], last["reason"]))
                elif state.get("reason") and state["updated"] >= fault_at:
                    reasons.append((state["updated"], state["reason"]))
            head = states["spark1"]
            if head.get("phase") != "serving" or head["since"] <= fault_at:
                return None
            # No request before this: an idle group has to notice by itself.
            return self.generate()

        made = self.wait(anew, "generates again")
        assert "-tp2-" in made.fingerprint
        self.wait(self.serving, "both ranks serve, of one generation and epoch")
        assert all(self.started(host) > fault_at for host in HOSTS), "every rank is started anew"
        return Recovery(made.at - fault_at, self.engine_start(), min(reasons)[1] if reasons else "")
