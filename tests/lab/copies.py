# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of copies share: bytes on links, processes that are killed, blobs on disks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from lab.hub_models import CACHE, repository
from tests.lab.controller import Controller, Ended

HOSTS = ("spark1", "spark2", "spark3", "spark4")
SOURCE, *TARGETS = HOSTS
MODEL = "lab/tiny-qwen3"
FOLDER = f"{CACHE}/{repository(MODEL)}"
FABRIC, MANAGEMENT = ("enp1s0f0np0", "enP2p1s0f0np0"), ("eth0",)
POLL_SECONDS = 0.05
JOBS = "/home/nvidia/.cache/dgxspark-serving/jobs"

# Sums of a counter over interfaces.
COUNTED = (
    "sum=0; for one in {names}; do sum=$((sum + $(cat /sys/class/net/$one/statistics/{counter}))); done; echo $sum"
)
# Kills all that works in the background, children and all; fails when there is nothing.
KILL = f'for lock in {JOBS}/*/lock; do pkill -KILL -g $(cat $lock) && killed=yes; done; test -n "$killed"'
# Names of blobs that are no hash of what is in them; small files have a git hash, which is looked at as well.
WRONG_BLOBS = """
import hashlib, pathlib, sys
folder = pathlib.Path(sys.argv[1], "blobs")
for blob in sorted(folder.iterdir()) if folder.is_dir() else []:
    digest = hashlib.sha256()
    if len(blob.name) == 40:
        digest = hashlib.sha1(b"blob %d\\0" % blob.stat().st_size)
    with blob.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    if len(blob.name) in (40, 64) and digest.hexdigest() != blob.name:
        print(blob.name)
"""


class Copies(Controller):
    """A user at the controller of four hosts, and what is on their disks and went over their links."""

    def sh(self, host: str, script: str, user: str = "nvidia") -> str:
        """Run a script on a host; return what it says."""
        code, out, err = self.lab.run(host, ["sh", "-c", script], user=user)
        assert code == 0, f"{host}: {err}"
        return out

    def on(self, hosts: Sequence[str], script: str, user: str = "nvidia") -> list[str]:
        """Run a script on hosts at once; return what each says."""
        with ThreadPoolExecutor(max_workers=len(hosts)) as pool:
            return list(pool.map(lambda host: self.sh(host, script, user), hosts))

    def counted(self, counter: str, hosts: Sequence[str], interfaces: Sequence[str] = FABRIC) -> list[int]:
        """Return each host's bytes on interfaces; `counter` is `tx_bytes` or `rx_bytes`."""
        script = COUNTED.format(names=" ".join(interfaces), counter=counter)
        return [int(text) for text in self.on(hosts, script)]

    def received(self, run: Future[Ended], host: str, size: int) -> None:
        """Wait until a host has received so many bytes from now on; fails when the run ends before."""
        until = self.counted("rx_bytes", [host])[0] + size
        while self.counted("rx_bytes", [host])[0] < until:
            assert not run.done(), run.result().text
            time.sleep(POLL_SECONDS)

    def kill(self, host: str) -> None:
        """Kill the copying processes of a host without a word."""
        self.sh(host, KILL)

    def forget_model(self) -> None:
        """Have the model on the source alone."""
        self.on(TARGETS, f"rm -rf {CACHE} {JOBS}")

    def wrong_blobs(self, hosts: Sequence[str]) -> list[str]:
        """Return blobs under a final name that have not that content."""
        with ThreadPoolExecutor(max_workers=len(hosts)) as pool:
            found = list(pool.map(lambda host: self.lab.run(host, ["python3", "-c", WRONG_BLOBS, FOLDER]), hosts))
        assert [code for code, _out, _err in found] == [0] * len(hosts), found
        return [f"{host}: {out}" for host, (_code, out, _err) in zip(hosts, found, strict=True) if out]

    def files(self, hosts: Sequence[str]) -> list[str]:
        """Return what each host has of the model: kinds, sizes, owners, paths and links."""
        look = "find blobs refs snapshots ! -type d -printf '%y %s %u %p %l\\n' | sort"
        return self.on(hosts, f"cd {FOLDER} && {look}")
