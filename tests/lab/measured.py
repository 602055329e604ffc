# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user who measures two replicas behind a gateway, and what he finds in the folder of a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.lab.controller import CHECKOUT, HOSTS, Controller, Ended

CONTROL = "http://127.0.0.1:18999/fault"
#: As small as a run can be that still has rounds, users and a place in each case.
SMALL: dict[str, Any] = {
    "benchmark_cases": ["short"],
    "benchmark_languages": ["en"],
    "benchmark_concurrency": [1, 4],
    "benchmark_rounds": 2,
    "benchmark_requests_per_user": 2,
    "benchmark_output_tokens": 16,
    "benchmark_min_seconds": 0,
    "benchmark_pictures": False,
    # Hosts and client share two cores with other tests: its stamps are late, and no figure is looked at here.
    "benchmark_client_lag": {"p99_ms": 10000, "share": 1000},
}
LIMIT = 240.0  # seconds


class Measured(Controller):
    """A user at the controller, with a folder for results."""

    def __init__(self, lab: Any, inventory: Path, environment: dict[str, str], results: Path) -> None:
        super().__init__(lab, inventory, environment)
        self.results = results

    def variables(self, more: dict[str, Any]) -> list[str]:
        return ["-e", json.dumps({**SMALL, "benchmark_results": str(self.results), **more})]

    def measure(self, *arguments: str, **more: Any) -> Ended:
        return self.play("benchmark.yml", *arguments, *self.variables(more))

    def runs(self) -> list[Path]:
        """The folders of all runs, the oldest first."""
        return sorted(self.results.iterdir()) if self.results.is_dir() else []

    def last(self) -> Path:
        return self.runs()[-1]

    def result(self) -> dict[str, Any]:
        """What the last run says."""
        found: dict[str, Any] = json.loads((self.last() / "result.json").read_text(encoding="utf-8"))
        return found

    def interrupt(self, rounds: int, **more: Any) -> Path:
        """Begin a run and press Ctrl-C when it has so many rounds; its folder."""
        before = set(self.runs())
        argv = ["ansible-playbook", "-i", str(self.inventory), "benchmark.yml", *self.variables(more)]
        child = subprocess.Popen(
            argv, cwd=CHECKOUT, env=self.environment, stdout=subprocess.DEVNULL, start_new_session=True
        )
        until = time.monotonic() + LIMIT
        try:
            while time.monotonic() < until and child.poll() is None:
                new = [run for run in self.runs() if run not in before]
                if new and len(list((new[0] / "rounds").glob("*.json.gz"))) >= rounds:
                    break
                time.sleep(0.1)
            assert child.poll() is None, "it ended before it could be interrupted"
            os.killpg(child.pid, signal.SIGINT)
            child.wait(LIMIT)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        return new[0]

    def fault(self, fault: str, **parameters: Any) -> None:
        """Set a fault of both engines."""
        for host in HOSTS:
            self._control(host, ["-X", "POST", "-d", json.dumps(parameters), f"{CONTROL}/{fault}"])

    def mend(self) -> None:
        for host in HOSTS:
            self._control(host, ["-X", "DELETE", CONTROL])

    def left_over(self) -> dict[str, list[str]]:
        """What still works in the background of each host, or lies there."""
        look = (
            "ls /run/dgxspark-serving/jobs",
            "ls -d /run/dgxspark-benchmark-*",  # a client's key
            "pgrep -f '[n]vidia-smi.*-l'",
            "true",
        )
        return {host: self.root(host, "sh", "-c", "; ".join(look)).split() for host in HOSTS}

    def engine_key(self) -> str:
        return self.root(HOSTS[0], "cat", "/etc/dgxspark-serving/engine.key").strip()

    def _control(self, host: str, arguments: list[str]) -> None:
        name = next(name for name in self.docker(host, "ps", "--format", "{{.Names}}").split() if "dgxspark-" in name)
        pid = self.docker(host, "inspect", "--format", "{{.State.Pid}}", name)
        self.root(host, "nsenter", "-t", pid, "-n", "curl", "-sf", *arguments)
