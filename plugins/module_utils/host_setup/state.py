# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wanted of a host, and what was seen there, in plain data. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.packages import Offer
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.units import Unit

EARLYOOM = "earlyoom.service"
DOCKER = "docker.service"
CONTAINERD = "containerd.service"
SSH = "ssh.service"
UNITS = (SSH, DOCKER, CONTAINERD, EARLYOOM)


@dataclass(frozen=True)
class Wanted:
    """The parts of the role that are switched on.

    :ivar earlyoom: its command line; empty to leave it alone
    :ivar user: who is to use Docker; empty for nobody
    :ivar clock: MHz that the GPU may reach; 0 to leave it alone
    """

    memlock: bool = True
    earlyoom: tuple[str, ...] = ()
    oom: bool = True
    docker: bool = True
    user: str = ""
    clock: int = 0


@dataclass(frozen=True)
class Container:
    """A container that runs.

    :ivar gpu: whether it was given the GPU, which a reload of systemd would take from it (field fault D08)
    """

    name: str
    gpu: bool


@dataclass(frozen=True)
class Seen:
    """A host as it is.

    :ivar files: texts by path, of those that are there
    :ivar programs: paths by name, of those that are there
    :ivar running: containers that run; None when Docker does not answer
    :ivar runtimes: Docker's runtimes; None when Docker does not answer
    :ivar earlyoom: the command line that runs
    :ivar scores: live OOM scores by unit
    :ivar capable: whether root may lower such a score and raise a limit, which it may not in many containers
    :ivar groups: the user's groups; None when there is no such user
    :ivar all_groups: all groups of the host
    :ivar nvidia: whether there is a GPU of NVIDIA with its driver
    """

    units: Mapping[str, Unit] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    running: Sequence[Container] | None = ()
    runtimes: Sequence[str] | None = ()
    earlyoom: tuple[str, ...] = ()
    scores: Mapping[str, int] = field(default_factory=dict)
    capable: bool = True
    groups: Sequence[str] | None = ()
    all_groups: Sequence[str] = ()
    nvidia: bool = True

    def unit(self, name: str) -> Unit:
        """A unit; one that is not there when it was not seen."""
        return self.units.get(name, Unit())


@dataclass(frozen=True)
class Missing:
    """Packages that are to be installed.

    :ivar needed: their names
    :ivar optional: those that only some distributions have apart
    """

    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass
class Due:
    """What the role has to do on a host. Each field is plain data for its tasks.

    :ivar swap: whether swap is on or can come back
    :ivar sysctl: whether a kernel setting is not as wanted
    :ivar files: texts to write, by path
    :ivar keep: paths of files that others will change, whose text is to be kept for the undo
    :ivar notes: what the undo needs to know besides
    :ivar scores: OOM scores to set now, by unit
    :ivar packages: to install
    :ivar refresh: whether apt's lists are to be fetched, for it does not know a package
    :ivar configure: whether Docker is to be told of the NVIDIA runtime
    :ivar docker: whether Docker is to be started anew
    :ivar reload: whether systemd is to read its units
    :ivar earlyoom: whether it is to be enabled and started anew
    :ivar clock: whether the unit of the clock is to be started
    :ivar user: who is to join the group docker
    :ivar later: what is not done now, and what to do
    :ivar impossible: what nobody can do on this host, and why
    """

    swap: bool = False
    sysctl: bool = False
    files: dict[str, str] = field(default_factory=dict)
    keep: list[str] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)
    scores: dict[str, int] = field(default_factory=dict)
    packages: list[str] = field(default_factory=list)
    refresh: bool = False
    configure: bool = False
    docker: bool = False
    reload: bool = False
    earlyoom: bool = False
    clock: bool = False
    user: str = ""
    later: list[str] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)


@dataclass
class Undo:
    """What the role has to do to leave a host as it was. Each field is plain data for its tasks.

    :ivar records: the parts of which there is a record: ``swap``, ``sysctl``, ``setup``
    :ivar setup: whether files of ours are to go and those of others to come back
    :ivar drop: paths whose record is to be forgotten, for somebody has changed the file since
    :ivar clock: whether the unit of the clock is to be stopped
    :ivar purge: packages to remove with their settings
    :ivar remove: packages to remove, with their data left
    :ivar user: who is to leave the group docker
    :ivar scores: OOM scores to give back, by unit
    :ivar reload: whether systemd is to read its units
    :ivar earlyoom: how its unit was before; empty when it is not to be touched
    :ivar docker: whether Docker is to be started anew
    :ivar later: what could not be undone now, and what to do
    """

    records: list[str] = field(default_factory=list)
    setup: bool = False
    drop: list[str] = field(default_factory=list)
    clock: bool = False
    purge: list[str] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    user: str = ""
    scores: dict[str, int] = field(default_factory=dict)
    reload: bool = False
    earlyoom: dict[str, bool] = field(default_factory=dict)
    docker: bool = False
    later: list[str] = field(default_factory=list)


NOTHING = Offer()


def holders(seen: Seen) -> str:
    """The containers from which a reload would take the GPU, in words; empty when there is none."""
    if seen.running is None:
        return "containers that cannot be seen, for Docker does not answer" if seen.unit(DOCKER).active else ""
    return ", ".join(container.name for container in seen.running if container.gpu)
