# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two replicas behind a gateway on a third host: what they are deployed from, and what the gateway says of them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lab.errors import LabError
from lab.lab import Lab
from tests.lab.controller import Controller, Ended
from tests.lab.load import Counts, Load, Target, counts

FIRST, SECOND, GATEWAY = HOSTS = ("spark1", "spark2", "spark3")
REPLICAS = {FIRST: "chat-0", SECOND: "chat-1"}
CLIENTS = 16
PORT, METRICS_PORT, ENGINE_PORT = 8080, 8405, 8000
KEY = "sk-of-the-load"
#: After so long anything that is waited for has failed, however slow the machine.
LIMIT = 300.0
POLL_SECONDS = 0.25
HUNG_AFTER = 10  # seconds
VARIABLES: dict[str, Any] = {
    "gateway_enabled": True,
    "gateway_hosts": [GATEWAY],
    "gateway_keys": [{"name": "load", "key": KEY}],
    "serving_deployments": [{"name": "chat", "replicas": [[FIRST], [SECOND]]}],
    # A request takes about half a second, so that some run and some begin whatever happens.
    "serving_env": {"DOUBLE_TOKENS_PER_SECOND": "50"},
    "replica_hung_after": HUNG_AFTER,
    # Restarts are neither counted nor held back: each event is measured alone.
    "replica_restart_window": 1,
    "replica_restart_limit": 100,
}
# Other lists of HAProxy's have servers of these names, too: only that of the deployment chooses.
_SERVER = re.compile(r'^haproxy_server_status\{proxy="chat",server="([^"]*)",state="([^"]*)"\} 1', re.MULTILINE)
_ABORTED = re.compile(r'^vllm:request_success_total\{[^}]*finished_reason="abort"[^}]*\} (\S+)', re.MULTILINE)


class BehindGateway(Controller):
    """A user at the controller of three hosts, and clients of the gateway."""

    def __init__(self, lab: Lab, inventory: Path, environment: dict[str, str]) -> None:
        super().__init__(lab, inventory, environment)
        self._more = inventory.parent / f"{inventory.name}-gateway.json"
        self._more.write_text(json.dumps({"sparks": {"vars": VARIABLES}}), encoding="utf-8")

    def run(self, playbook: str, **variables: object) -> Ended:
        """Run a playbook that must go well."""
        ended = self.play(playbook, "-i", str(self._more), "-e", json.dumps(variables))
        assert ended.code == 0, ended.text
        return ended

    # -- what the gateway and the engines say ----------------------------------------------------------------------

    def rotation(self) -> dict[str, str]:
        """Return the state of each replica in the gateway."""
        return dict(_SERVER.findall(self._page(GATEWAY, "127.0.0.1", METRICS_PORT)))

    def wait_in(self, *hosts: str) -> None:
        """Wait until exactly the replicas of these hosts are in rotation."""
        wanted = {replica: host in hosts for host, replica in REPLICAS.items()}
        self.wait(
            lambda: {name: state == "UP" for name, state in self.rotation().items()} == wanted,
            f"in rotation: {', '.join(hosts)}",
        )

    def aborted(self, host: str) -> float:
        """Return how many requests somebody took from the engine of a host before their end."""
        link = self.lab.host(host).links[0]
        match = _ABORTED.search(self._page(host, link.address.partition("/")[0], ENGINE_PORT))
        assert match, "the engine counts aborted requests"
        return float(match[1])

    def phase(self, host: str) -> str:
        """Return what the supervisor of the replica on a host says of it; "" while the host is away."""
        look = f"cat /run/dgxspark-serving/dgxspark-{REPLICAS[host]}-r0.json"
        try:
            code, text, _error = self.lab.run(host, ["sh", "-c", look], user="root")
        except LabError:
            return ""
        return json.loads(text)["phase"] if code == 0 else ""

    def _page(self, host: str, address: str, port: int) -> str:
        url = f"http://{address}:{port}/metrics"
        code, text, error = self.lab.run(host, ["curl", "--silent", "--show-error", "--max-time", "5", url])
        assert code == 0, f"{host}: {url}: {error}"
        return text

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition; fails the test."""
        until = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > until:
                phases = {host: self.phase(host) for host in REPLICAS}
                pytest.fail(f"{what}: not within {LIMIT:.0f} s; {self.rotation()}, {phases}")
            time.sleep(POLL_SECONDS)

    # -- load ------------------------------------------------------------------------------------------------------

    @contextmanager
    def event(self, survivor: str | None = None) -> Iterator[Event]:
        """Have the clients at work around an event and for a while after it.

        :param survivor: a host that the event is to leave alone: its engine must finish all it was given
        """
        target = Target(self.lab.address(self.lab.host(GATEWAY)), PORT, "tiny-qwen3", KEY)
        aborted = self.aborted(survivor) if survivor else 0.0
        with Load(target, CLIENTS) as load:
            load.wait(3 * CLIENTS)  # both replicas have their share
            measured = Event(load)
            yield measured
            load.wait(3 * CLIENTS)
        assert measured.counts.asked > CLIENTS
        if survivor:
            assert self.aborted(survivor) == aborted, "requests on the other replica go on"


class Event:
    """The time of an event, which begins when this is made."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._at = time.monotonic()
        self._over = float("inf")

    def is_over(self) -> None:
        """Say that whatever begins from now on must not fail."""
        self._over = time.monotonic()

    @property
    def counts(self) -> Counts:
        """Return what became of the requests."""
        return counts(self._load.done, self._at, self._over)

    @property
    def failures(self) -> list[str]:
        """Return what the clients were told, with the seconds since the event."""
        return [f"{one.ended - self._at:.1f} s: {one.error}" for one in self._load.done if one.error]
