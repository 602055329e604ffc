# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab of benchmarks/fanout.py: hosts on one switch, a payload on the first one, and the ways to move it."""

from __future__ import annotations

import io
import json
import shlex
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.lab import Lab

CHECKOUT = Path(__file__).parents[1]
LIBRARY = "ansible_collections/dgxspark/serving/plugins/module_utils"
WORK = "/srv/fanout"
PORT, DAEMON_PORT = 29650, 8730
SOURCE = "spark1"
STEP = 0.2
# Bytes of memory beside the payload; the module wants some to spare.
SPARE = 2 << 30
SSH = "ssh -i /root/.ssh/fanout -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
HOST = f"PYTHONPATH={WORK}/bin python3 {WORK}/bin/fanout_host.py"


@dataclass(frozen=True)
class Copied:
    """What became of one fan-out.

    :ivar seconds: from the begin of the first target to the end of each, by host
    :ivar sent: bytes that left the source's interface
    :ivar cached: bytes of the payload in the page cache of the first target, half-way or at the end, whichever is more
    """

    seconds: dict[str, float]
    sent: int
    cached: int


@dataclass
class Hosts:
    """The hosts and their payload.

    :ivar size: bytes of the payload
    :ivar folder: where the payload lies, on each host
    """

    lab: Lab
    size: int
    folder: str = f"{WORK}/disk"
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def payload(self) -> str:
        return f"{self.folder}/payload"

    def shell(self, host: str, script: str, stdin: io.BytesIO | None = None) -> str:
        """Run a script as root; raises RuntimeError when it fails."""
        code, out, error = self.lab.run(host, ["bash", "-c", script], user="root", stdin=stdin)
        if code:
            raise RuntimeError(f"{host}: {script[:80]}: {error.strip()[-400:]}")
        return out

    def address(self, host: str) -> str:
        """A host's address on the first twin, which carries everything: so does one iperf3."""
        return self.lab.host(host).links[0].address.split("/", 1)[0]

    def names(self) -> list[str]:
        return [host.name for host in self.lab.hosts()]

    def prepare(self) -> None:
        """Bring the programs and make the payload."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(CHECKOUT / "plugins/module_utils", LIBRARY, filter=_sources)
            tar.add(CHECKOUT / "benchmarks/fanout_host.py", "fanout_host.py")
        for host in self.names():
            packed.seek(0)
            self.shell(
                host,
                f"umount {WORK}/memory 2> /dev/null; rm -rf {WORK}; mkdir -p {WORK}/bin; tar -x -C {WORK}/bin",
                packed,
            )
        number = 16
        made = self.shell(SOURCE, f"{HOST} make {self.payload} {number} {self.size // number}")
        self.manifest = json.loads(made)
        self.size = sum(entry["size"] for entry in self.manifest["entries"])
        key = self.shell(
            SOURCE,
            "rm -f ~/.ssh/fanout*; mkdir -p -m 700 ~/.ssh; ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/fanout;"
            " cat ~/.ssh/fanout.pub",
        )
        for host in self.names()[1:]:
            self.shell(host, f"mkdir -p -m 700 ~/.ssh; echo {shlex.quote(key.strip())} >> ~/.ssh/authorized_keys")
        self._daemon()

    def use_memory(self) -> None:
        """Have the payload in memory, on the source and the first target, so that no disk is the limit."""
        memory = f"{WORK}/memory"
        for host in self.names()[:2]:
            self.shell(host, f"mkdir -p {memory}; mount -t tmpfs -o size={self.size + SPARE} tmpfs {memory}")
        self.shell(SOURCE, f"cp -r {self.payload} {memory}/")
        self.folder = memory
        self._daemon()

    def _daemon(self) -> None:
        """Give the payload by rsync's daemon, which reads what it gives anew for each connection."""
        config = f"use chroot = no\n[payload]\npath = {self.payload}\n"
        daemon = f"rsync --daemon --config={WORK}/rsyncd.conf --port={DAEMON_PORT} --address={self.address(SOURCE)}"
        # One that runs already keeps the port, and is fine.
        self.shell(SOURCE, f"printf %s {shlex.quote(config)} > {WORK}/rsyncd.conf; {daemon} 2> /dev/null || true")

    def clean(self) -> None:
        """Targets without the payload, nothing of it in the page cache, and nothing that waits for the disk."""
        for host in self.names()[1:]:
            self.shell(host, f"rm -rf {self.payload} {self.folder}/.dgxspark-serving.payload*; mkdir -p {self.folder}")
        drop = "import os,sys; [os.posix_fadvise(os.open(p, 0), 0, 0, 4) for p in sys.argv[1:]]"
        self.shell(SOURCE, f"sync; python3 -c {shlex.quote(drop)} {self.payload}/*")

    # -- ways to move it -------------------------------------------------------------------------------------------

    def iperf3(self, target: str, seconds: int) -> float:
        """Bytes per second of iperf3 -P 4 from the source."""
        address = self.address(target)
        self.shell(target, f"iperf3 -s -1 -D -B {address}; sleep 0.5")
        found = json.loads(self.shell(SOURCE, f"iperf3 -c {address} -P 4 -t {seconds} -J"))
        return float(found["end"]["sum_received"]["bits_per_second"]) / 8

    def rsync_ssh(self, target: str) -> float:
        """Seconds of one rsync over ssh."""
        self.clean()
        where = f"root@{self.address(target)}:{self.payload}/"
        return self._timed(SOURCE, f"rsync -a -e {shlex.quote(SSH)} {self.payload}/ {where}")

    def rsync_daemon(self, target: str) -> float:
        """Seconds of one rsync from a daemon on the source."""
        self.clean()
        return self._timed(target, f"rsync -a rsync://{self.address(SOURCE)}:{DAEMON_PORT}/payload/ {self.payload}/")

    def _timed(self, host: str, command: str) -> float:
        begin = time.monotonic()
        self.shell(host, command)
        return time.monotonic() - begin

    def fanout(self, *targets: str, at_half: Callable[[], None] | None = None, dead: str = "") -> Copied:
        """Bring the payload along a chain of targets.

        :param at_half: called when the last target has half of it
        :param dead: a target that does not end
        """
        self.clean()
        before = self._interface_bytes()
        self.begin(SOURCE, [], targets)
        # The last one first: all are there when the first one, and with it the clock, begins.
        for place, target in reversed(list(enumerate(targets))):
            self.begin(target, [*reversed(targets[:place]), SOURCE], targets[place + 1 :])
            while place and self.status(target)["state"] == "begins":
                time.sleep(STEP)
        cached, half = 0, False

        def look() -> None:
            nonlocal cached
            cached = max(cached, self._cached(targets[0]))

        at_half = at_half or look
        while True:
            statuses = {target: self.status(target) for target in targets if target != dead}
            failed = [status["error"] for status in statuses.values() if status["state"] == "failed"]
            if failed:
                raise RuntimeError(failed[0])
            if not half and statuses[targets[-1]].get("done", 0) >= self.size / 2:
                half = True
                at_half()
            if all(status["state"] == "done" for status in statuses.values()):
                break
            time.sleep(STEP)
        begin = statuses[targets[0]]["begin"]
        seconds = {target: status["end"] - begin for target, status in statuses.items()}
        sent = self._interface_bytes() - before
        look()
        for host in (SOURCE, *targets):
            self.kill(host)
        return Copied(seconds, sent, cached)

    def interrupted(self, target: str) -> int:
        """Bytes that are sent again when a target is killed in the middle and run again."""
        self.clean()
        self.begin(SOURCE, [], [target])
        self.begin(target, [SOURCE], [])
        while self.status(target).get("done", 0) < self.size / 2:
            time.sleep(STEP)
        self.kill(target)
        self.begin(target, [SOURCE], [])
        while (status := self.status(target))["state"] not in ("done", "failed"):
            time.sleep(STEP)
        time.sleep(2 * STEP)
        given = int(self.status(SOURCE)["done"])
        self.kill(SOURCE)
        if status["state"] == "failed":
            raise RuntimeError(status["error"])
        return given - self.size

    def begin(self, host: str, above: Sequence[str], below: Sequence[str]) -> None:
        """Start a host's part of a fan-out."""
        order = {
            "manifest": self.manifest,
            "root": self.payload,
            "listen": [self.address(host)] if below else [],
            "port": PORT,
            "peers": [self.address(one) for one in below],
            "upstreams": [[self.address(one)] for one in above],
            "token": "benchmark",
            "streams": 8,
            "stall": 30.0,
        }
        run = f"{HOST} run {WORK}/order {WORK}/status"
        script = (
            f"cat > {WORK}/order; rm -f {WORK}/status; setsid sh -c 'exec env {run}' > {WORK}/log 2>&1 < /dev/null &"
        )
        self.shell(host, script, io.BytesIO(json.dumps(order).encode()))

    def status(self, host: str) -> dict[str, Any]:
        """What a host says of its part."""
        text = self.shell(host, f"cat {WORK}/status 2> /dev/null || true")
        return dict(json.loads(text)) if text else {"state": "begins"}

    def kill(self, host: str) -> None:
        """Kill a host's part as `kill -9` does, if it runs."""
        pid = self.status(host).get("pid")
        if pid:
            self.shell(host, f"kill -9 {pid}; rm {WORK}/status")

    def _interface_bytes(self) -> int:
        interface = self.lab.host(SOURCE).links[0].interface
        return int(self.shell(SOURCE, f"cat /sys/class/net/{interface}/statistics/tx_bytes"))

    def _cached(self, host: str) -> int:
        """Bytes of the payload's files in the page cache, whole files and parts."""
        return int(self.shell(host, f"{HOST} cached {self.folder}"))


def _sources(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in entry.name else entry
