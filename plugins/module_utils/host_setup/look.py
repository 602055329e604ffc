# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look how a host is: an edge, it reads files, asks systemd and Docker, and lets apt simulate."""

from __future__ import annotations

import grp
import json
import os
import pwd
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import packages, runtime, texts, units
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.packages import Offer
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import (
    CONTAINERD,
    DOCKER,
    EARLYOOM,
    NOTHING,
    UNITS,
    Container,
    Missing,
    Seen,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.plain_http import exchange

SOCKET = "/run/docker.sock"
# Seconds that Docker has for an answer.
PATIENCE = 10.0
PROGRAMS = ("docker", "earlyoom", "nvidia-ctk", "nvidia-smi")
SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"
OUR_FILES = (texts.LIMITS_PATH, texts.CLOCK_PATH, runtime.DAEMON_JSON, *(texts.drop_in_path(unit) for unit in UNITS))
NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")
OURS = "dgxspark.serving.deployment"
CAP_SYS_RESOURCE = 24


def look(files: HostFiles, user: str) -> Seen:
    """How the host is.

    :param user: whose groups are asked for
    """
    found = units.parse(files.run(units.show([*UNITS, texts.CLOCK_UNIT])).out)
    programs = {name: path for name in PROGRAMS if (path := shutil.which(name, path=SEARCH))}
    pids = {name: unit.pid for name, unit in found.items() if unit.pid}
    running, runtimes = _docker(found[DOCKER].active if DOCKER in found else False)
    texts_now = {path: files.read(path) for path in OUR_FILES}
    return Seen(
        units=found,
        files={path: text for path, text in texts_now.items() if text is not None},
        programs=programs,
        running=running,
        runtimes=runtimes,
        earlyoom=_command_line(pids.get(EARLYOOM, 0)),
        scores={name: score for name in (DOCKER, CONTAINERD) if (score := oom_score(pids.get(name, 0))) is not None},
        capable=_capable(),
        groups=_groups(user),
        all_groups=[group.gr_name for group in grp.getgrall()],
        nvidia="nvidia-smi" in programs or NVIDIA_DRIVER.exists(),
    )


def offer(files: HostFiles, missing: Missing) -> Offer:
    """What apt would install for the packages that are missing."""
    if not missing.needed:
        return NOTHING
    names, unknown = [*missing.needed, *missing.optional], []
    while True:
        said = files.run(packages.simulate("install", names))
        found = packages.offer(said.out, said.err)
        unknown += found.unknown
        names = [name for name in names if name not in found.unknown]
        if not found.unknown or not names:
            return Offer(found.new, tuple(unknown), found.reason)


def strangers(files: HostFiles, names: Sequence[str]) -> list[str]:
    """Packages that would go with ``names`` and are not among them."""
    return packages.strangers(files.run(packages.simulate("remove", names)).out, names) if names else []


def oom_score(pid: int) -> int | None:
    """The score by which the kernel spares a process (-1000 to 1000); None when there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/oom_score_adj").read_text(encoding="ascii")) if pid else None
    except OSError:
        return None


def _command_line(pid: int) -> tuple[str, ...]:
    try:
        text = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace") if pid else ""
    except OSError:
        return ()
    return tuple(text.split("\0")[:-1])


def _capable() -> bool:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    held = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return bool(int(held, 16) >> CAP_SYS_RESOURCE & 1)


def _groups(user: str) -> list[str] | None:
    try:
        found = pwd.getpwnam(user)
    except KeyError:
        return None
    return [grp.getgrgid(number).gr_name for number in os.getgrouplist(user, found.pw_gid) if _has_name(number)]


def _has_name(number: int) -> bool:
    try:
        grp.getgrgid(number)
    except KeyError:
        return False
    return True


def _docker(active: bool) -> tuple[list[Container] | None, list[str] | None]:
    """The containers that run, and Docker's runtimes; None where it does not answer."""
    if not active:
        # Asking would start it by its socket.
        return [], None
    try:
        running = [_container(_ask(f"/containers/{one['Id']}/json")) for one in _ask("/containers/json")]
        return running, list(_ask("/info").get("Runtimes") or {})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, None


def _ask(path: str) -> Any:
    status, body = exchange(SOCKET, "GET", path, PATIENCE)
    if status != 200:
        raise ConnectionError(f"Docker answers {path} with status {status}")
    return json.loads(body)


def _container(found: dict[str, Any]) -> Container:
    host, config = found.get("HostConfig") or {}, found.get("Config") or {}
    devices = [str(one.get("PathOnHost", "")) for one in host.get("Devices") or []]
    gpu = (
        OURS in (config.get("Labels") or {})
        or bool(host.get("DeviceRequests"))
        or host.get("Runtime") == "nvidia"
        or any(device.startswith("/dev/nvidia") for device in devices)
    )
    return Container(str(found.get("Name", "")).removeprefix("/"), gpu)
