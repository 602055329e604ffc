# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of kernel settings, limits, and what logging out takes away. Pure."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, passed, skipped, warned
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import logind, machine, sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources
from ansible_collections.dgxspark.serving.plugins.module_utils.tuning import BBR, BBR_MODULE

PREPARE = "Run the playbook prepare, which sets them now and for each boot"
LIMITS = "docker_memlock"
RELEASE = "/proc/sys/kernel/osrelease"
MODULE_FILES = f"/lib/modules/*/kernel/net/ipv4/{BBR_MODULE}.ko*"
ROCE = "roce"
SHOWN = 2
# Who engines run as: their containers are root's, whoever deploys.
ENGINE_USER = "root"


def sources(want: Want) -> Sources:
    """What to read and run."""
    limits = ("systemctl", "show", "docker.service", "--property", "LimitMEMLOCK")
    commands = {LIMITS: limits} if want.transport == ROCE else {}
    own = Sources((RELEASE,), (MODULE_FILES,), commands)
    return own | sysctl.sources(want.sysctl) | logind.sources(ENGINE_USER)


def checks(raw: Raw, want: Want) -> list[Check]:
    """All checks of the group, in order."""
    rows = sysctl.at_boot(raw.files, raw.links)
    return [
        settings_now(raw, want),
        settings_at_boot(raw, want, rows),
        remarks(rows),
        memlock(raw, want),
        remove_ipc(
            logind.removes_ipc(logind.configuration(raw.files)),
            ENGINE_USER,
            logind.lingers(raw, ENGINE_USER),
            want.world_size,
        ),
    ]


def facts(raw: Raw, want: Want) -> dict[str, Any]:
    """The wanted settings as they are now; those that this kernel does not have are left out."""
    values = {key: sysctl.now(raw, key) for key in want.sysctl}
    return {"sysctl": {key: " ".join(value.split()) for key, value in values.items() if value is not None}}


def here(raw: Raw, want: Want) -> dict[str, str]:
    """The wanted settings that this kernel can have (field faults S01 and S09)."""
    return {key: value for key, value in want.sysctl.items() if sysctl.now(raw, key) is not None and _able(raw, value)}


def _able(raw: Raw, value: str) -> bool:
    available = raw.text(sysctl.file_of(sysctl.AVAILABLE)).split()
    if value != BBR or BBR in available or not available:
        return True
    release = raw.text(RELEASE)
    return any(f"/lib/modules/{release}/" in path for path in raw.links if f"/{BBR_MODULE}.ko" in path)


def settings_now(raw: Raw, want: Want) -> Check:
    """Each setting as it is now."""
    name = "kernel.sysctl"
    able = here(raw, want)
    if not able or sysctl.read_only(raw):
        return skipped(name, "nothing can be set here" if want.sysctl else "no settings are wanted")
    other = {key: sysctl.now(raw, key) or "" for key in able if not sysctl.same(sysctl.now(raw, key) or "", able[key])}
    if not other:
        return passed(name, f"{len(able)} settings as wanted")
    found = [f"{key} {' '.join(value.split()) or 'empty'}" for key, value in other.items()]
    wanted = [f"{key} {able[key]}" for key in other]
    return _differ(name, len(able), found, wanted, PREPARE)


def settings_at_boot(raw: Raw, want: Want, rows: list[sysctl.Setting]) -> Check:
    """Each setting as the files make it at the next boot (field fault S06).

    One that is in no file and not as wanted now either is the business of ``kernel.sysctl`` alone.
    """
    name = "kernel.sysctl_boot"
    able = here(raw, want)
    if not able or sysctl.read_only(raw):
        return skipped(name, "nothing can be set here" if want.sysctl else "no settings are wanted")
    found, wanted, beaten = [], [], False
    for key, value in able.items():
        row = sysctl.effective(rows, key)
        if row is None and sysctl.same(sysctl.now(raw, key) or "", value):
            found.append(f"{key} is in no file")
        elif row is not None and not sysctl.same(row.value, value):
            found.append(f"{key} after reboot {row.value} (from {row.place})")
            beaten = True
        else:
            continue
        wanted.append(f"{key} {value}")
    if not found:
        return passed(name, "the files say nothing else")
    remedy = "Remove the rows named here, then run the playbook prepare" if beaten else PREPARE
    return _differ(name, len(able), found, wanted, remedy)


def _differ(name: str, of: int, found: list[str], wanted: list[str], remedy: str) -> Check:
    if len(found) <= SHOWN:
        return warned(name, ", ".join(found), ", ".join(wanted), remedy)
    short = f"{len(found)} of {of} settings differ: {_some(found)}"
    return warned(name, short, _some(wanted), remedy, f"All: {', '.join(found)}.")


def _some(entries: list[str]) -> str:
    """The first of many; all of them are too much for a row of a table."""
    more = f" and {len(entries) - SHOWN} more" if len(entries) > SHOWN else ""
    return ", ".join(entries[:SHOWN]) + more


def remarks(rows: list[sysctl.Setting]) -> Check:
    """Rows with a remark after the value (field fault S05)."""
    name = "kernel.sysctl_files"
    bad = [row for row in rows if sysctl.has_remark(row.value)]
    if not bad:
        return passed(name, "every row can be read")
    found = _some([f"{row.path}:{row.line}: {row.key} = {row.value}" for row in bad])
    remedy = "Put the remark on a line of its own"
    return warned(name, found, "no remark after a value", remedy, "It counts as a part of the value, which is refused.")


def memlock(raw: Raw, want: Want) -> Check:
    """Whether Docker may give the memory lock that RDMA takes; engine containers ask for it themselves."""
    name = "kernel.memlock"
    if want.transport != ROCE:
        return skipped(name, "only RDMA takes it")
    if machine.in_container(raw):
        return skipped(name, "in a container: the machine's limits count")
    said = re.search(r"^LimitMEMLOCK=(\w+)\s*$", raw.output(LIMITS).out, re.MULTILINE)
    if said is None:
        return skipped(name, "systemd does not say what docker.service may lock")
    if said[1] == "infinity":
        return passed(name, "unlimited")
    found = f"docker.service may lock {said[1]} bytes"
    return warned(name, found, "unlimited", "Run the playbook prepare, which lifts the limit of Docker")


def remove_ipc(removes: bool, user: str, lingers: bool, world_size: int) -> Check:
    """Whether semaphores of a rank vanish when the session that started it ends (field fault N02).

    :param user: who the engine runs as
    """
    name = "kernel.remove_ipc"
    if not removes:
        return passed(name, "RemoveIPC=no")
    if user == "root":
        return passed(name, "engines are root's, whose shared memory stays")
    if lingers:
        return passed(name, f"{user} lingers")
    if world_size <= 1:
        return passed(name, "no replica of several hosts")
    return warned(
        name,
        f"RemoveIPC=yes, and {user} does not linger",
        "shared memory that outlives a session",
        f"Run 'loginctl enable-linger {user}', or set RemoveIPC=no in /etc/systemd/logind.conf",
        "When the session ends its semaphores go, and the other ranks wait for ever.",
    )
