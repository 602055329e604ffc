# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where files of this collection lie on a host."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

UNIT_NAME = "dgxspark-replica@{}.service"


def unit_name(container: str) -> str:
    """The systemd unit of a rank, by the name of its container."""
    return UNIT_NAME.format(container)


@dataclass(frozen=True)
class HostPaths:
    """All paths, below a root that tests move.

    :ivar root: ``/`` on a host
    """

    root: Path = Path("/")

    @property
    def library(self) -> Path:
        return self.root / "usr/local/lib/dgxspark-serving"

    @property
    def program(self) -> Path:
        return self.library / "supervisor.pyz"

    @property
    def ray_rank(self) -> Path:
        return self.library / "engine/ray_rank.py"

    @property
    def unit(self) -> Path:
        return self.root / "etc/systemd/system" / UNIT_NAME.format("")

    @property
    def gateway_unit(self) -> Path:
        return self.root / "etc/systemd/system/dgxspark-gateway.service"

    @property
    def specs(self) -> Path:
        return self.root / "etc/dgxspark-serving/replicas"

    def spec(self, container: str) -> Path:
        return self.specs / f"{container}.json"

    @property
    def states(self) -> Path:
        """What must survive a reboot."""
        return self.root / "var/lib/dgxspark-serving"

    def state_folder(self, container: str) -> Path:
        return self.states / container

    def state(self, container: str) -> Path:
        return self.state_folder(container) / "state.json"

    def evidence(self, container: str) -> Path:
        return self.state_folder(container) / "evidence"

    @property
    def change(self) -> Path:
        return self.states / "change.json"

    @property
    def drain(self) -> Path:
        """That the replica whose rank 0 is here gets no new requests; see :mod:`drained`."""
        return self.states / "drain.json"

    @property
    def probes(self) -> Path:
        """What images said of themselves."""
        return self.states / "probe"

    @property
    def run(self) -> Path:
        """What a reboot may take."""
        return self.root / "run/dgxspark-serving"

    def live(self, container: str) -> Path:
        return self.run / f"{container}.json"

    @property
    def lock(self) -> Path:
        return self.run / "lock.json"

    @property
    def guard(self) -> Path:
        """Locked by flock while lock.json or change.json is read and written again."""
        return self.run / "lock.guard"

    @property
    def work_guard(self) -> Path:
        """Locked by flock during a pass of a change: a run and the host's own timer can be at it together."""
        return self.run / "change.guard"


def write_part(path: Path, content: bytes) -> Path:
    """Write what a file is to hold beside it, to the disk, and return where; the folder is made if needed.

    :raises OSError: when the file system does not take it
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with open(part, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return part


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees all of the old or all of the new one, also after power is lost.

    :raises OSError: when the file system does not take it
    """
    part = write_part(path, content)
    os.chmod(part, 0o644)
    os.replace(part, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
