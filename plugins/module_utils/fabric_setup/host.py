# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric of this host, looked at and changed: an edge."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import desired, revert, seen, way_in
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.desired import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.seen import Seen
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.look import look

PROGRAM = Path("/usr/local/lib/dgxspark-serving/fabric_revert.py")
BOOT_UNIT = Path("/etc/systemd/system/dgxspark-fabric-boot.service")
BOOT_LINK = BOOT_UNIT.parent / "multi-user.target.wants" / BOOT_UNIT.name
BOOT_TEXT = f"""# Made by the role fabric of dgxspark.serving.
[Unit]
Description=Take back a change of the fabric that nobody confirmed before the reboot
ConditionPathExists={revert.PENDING}
DefaultDependencies=no
After=local-fs.target
Before=network-pre.target systemd-networkd.service NetworkManager.service
Wants=network-pre.target
Conflicts=shutdown.target

[Service]
Type=oneshot
ExecStart=/usr/bin/env python3 {PROGRAM} boot

[Install]
WantedBy=multi-user.target
"""
# Seconds between two looks of the host at a change that is due, when the first one failed.
AGAIN = 10
# Seconds until a manager must have done what its file says.
TAKE_UP = 15.0
PAUSE = 0.5


@dataclass(frozen=True)
class Wanted:
    """What a host's fabric is to be.

    :ivar links: ``interface`` and ``address`` (with prefix length) of each
    :ivar mtu: in bytes
    :ivar take_over: whether to take interfaces out of configuration of others
    :ivar revert_after: seconds without a confirmation after which the host takes a change back
    """

    links: Sequence[Mapping[str, str]]
    mtu: int
    manager: str
    take_over: bool
    revert_after: int

    @property
    def names(self) -> list[str]:
        """The interfaces."""
        return [link["interface"] for link in self.links]


@dataclass(frozen=True)
class Change:
    """What is to be done.

    :ivar files: text by path, None for a file that goes
    :ivar take_out: interfaces that are to go from netplan files of others
    :ivar lacking: what of the wanted state is not in force, in words
    """

    manager: str
    files: Mapping[str, str | None]
    take_out: Sequence[str]
    diff: Sequence[dict[str, str]]
    lacking: Sequence[str]

    @property
    def needed(self) -> bool:
        """Whether anything differs, in files or live."""
        return bool(self.diff or self.take_out or self.lacking)


def look_now() -> Seen:
    """This host's network."""
    return seen.read(look(seen.SOURCES))


def plan(wanted: Wanted, now: Seen) -> Change:
    """What is to be done, and whether it may be.

    :raises Refused: when it may not
    """
    desired.refuse_interfaces(wanted.links, now, way_in.interfaces())
    manager = desired.choose(wanted.manager, now, wanted.names)
    others = desired.foreign(manager, now, wanted.names)
    desired.refuse_foreign(others, manager, wanted.take_over)
    files = desired.files(manager, wanted.links, wanted.mtu, now)
    there = {**now.netplan_files, **now.keyfiles}
    diff = [
        {"before_header": path, "after_header": path, "before": there.get(path, ""), "after": text or ""}
        for path, text in files.items()
        if there.get(path) != text
    ]
    take_out = sorted({one.interface for one in others if one.kind == "key"})
    change = Change(manager, files, take_out, diff, desired.not_yet(wanted.links, wanted.mtu, now))
    if change.needed:
        desired.refuse_ranks(now)
    return change


def unfinished(check: bool) -> None:
    """Deal with a change that an earlier run left.

    :param check: whether to leave one whose timer is gone as it is
    :raises Refused: when it is still to be taken back by the host itself
    """
    pending = revert.read_json(revert.PENDING)
    if pending is None:
        return
    left = pending["due"] - time.time()
    if left > -AGAIN:
        raise Refused(
            "An earlier change of the fabric was never confirmed, and this host takes it back"
            f" in {max(1, round(left))} s. Run again after that."
        )
    if not check:
        revert.revert(revert.run_process, at_boot=False)


def snapshot(paths: Sequence[str], names: Sequence[str], now: Seen) -> dict[str, Any]:
    """Files and interfaces as they are, for the way back."""
    return {
        "files": {path: revert.file_state(Path(path)) for path in paths},
        "interfaces": {
            name: {
                **now.interfaces[name],
                "connection": now.devices[name].uuid if name in now.devices else "",
            }
            for name in names
            if name in now.interfaces
        },
        "networkd": now.networkd,
    }


def arm(wanted: Wanted, change: Change, now: Seen, program: str) -> None:
    """Have the host take the change back by itself, also after a reboot, before anything of it is done.

    :raises Refused: when systemd takes no timer
    """
    run = revert.run_process
    revert.STATE.mkdir(parents=True, exist_ok=True, mode=0o700)
    revert.write_file(PROGRAM, program.encode(), 0o755)
    revert.write_file(BOOT_UNIT, BOOT_TEXT.encode(), 0o644)
    BOOT_LINK.parent.mkdir(parents=True, exist_ok=True)
    if not BOOT_LINK.is_symlink():
        # What `systemctl enable` does, less its daemon-reload (field fault D08). Only a boot needs the unit.
        BOOT_LINK.symlink_to(BOOT_UNIT)
    touched = [*change.files, *(now.netplan_files if change.take_out else ())]
    with revert.alone():
        revert.write_json(
            revert.PENDING,
            {
                "began": time.time(),
                "due": time.time() + wanted.revert_after,
                "before": snapshot(touched, wanted.names, now),
            },
        )
    revert.stop_timer(run)
    code, out, err = run(
        [
            "systemd-run",
            f"--unit={revert.TIMER}",
            "--description=Take back a change of the fabric that nobody confirms",
            "--collect",
            f"--on-active={wanted.revert_after}",
            f"--on-unit-inactive={AGAIN}",
            "--timer-property=AccuracySec=100ms",
            "python3",
            str(PROGRAM),
            "due",
        ]
    )
    if code:
        revert.PENDING.unlink()
        raise Refused(
            f"systemd takes no timer for the way back ({' '.join((err or out).split())}), so nothing was changed."
        )


def apply(wanted: Wanted, change: Change) -> None:
    """Write the files and have them taken up; only while the way back is armed.

    :raises Refused: when the interfaces are not as wanted after that
    """
    run = revert.run_process
    for name in change.take_out:
        # Leaves the file's other interfaces, and loses its comments until the undo brings it back byte for byte.
        revert.must(run, ["netplan", "set", f"ethernets.{name}=NULL"])
    for path, text in change.files.items():
        if text is None:
            Path(path).unlink(missing_ok=True)
        else:
            revert.write_file(Path(path), text.encode(), desired.MODE)
    revert.generate(run)
    networkd = any(os.path.exists(revert.NETWORKD_FILE.format(name)) for name in wanted.names)
    revert.take_up(run, wanted.names, networkd or revert.active(run, "systemd-networkd.service"))
    for name in wanted.names:
        if change.manager == revert.NETWORKMANAGER:
            revert.must(run, ["nmcli", "connection", "up", f"{desired.PREFIX}{name}"])
        elif os.path.exists(revert.NM_FILE.format(name)):
            revert.must(run, ["nmcli", "connection", "up", f"netplan-{name}"])
    until = time.monotonic() + min(TAKE_UP, wanted.revert_after / 2)
    while True:
        lacking = desired.not_yet(wanted.links, wanted.mtu, Seen(interfaces=revert.live(run)))
        if not lacking:
            return
        if time.monotonic() > until:
            raise Refused(f"{change.manager} has its new files, and still {'; '.join(lacking)}.")
        time.sleep(PAUSE)


def keep() -> bool:
    """Disarm the way back; says whether there was one.

    :raises Refused: when the host has taken the change back already
    """
    run = revert.run_process
    with revert.alone():
        pending = revert.read_json(revert.PENDING)
        if pending is None:
            raise Refused("This host has taken the change of its fabric back already. Raise fabric_revert_after.")
        first = revert.read_json(revert.BEFORE) or {"files": {}, "interfaces": {}}
        # What an earlier run has kept is older, and so what the undo brings back.
        revert.write_json(
            revert.BEFORE,
            {
                "files": {**pending["before"]["files"], **first["files"]},
                "interfaces": {**pending["before"]["interfaces"], **first["interfaces"]},
                "networkd": first.get("networkd", pending["before"]["networkd"]),
            },
        )
        revert.PENDING.unlink()
    revert.stop_timer(run)
    return True


def absent(check: bool, now: Seen) -> tuple[bool, list[dict[str, str]]]:
    """Bring back what was before the role came; says whether that is a change, and shows it.

    :param check: whether only to say so
    :raises Refused: when ranks run over the fabric
    """
    run = revert.run_process
    ours = [path for path in (BOOT_LINK, BOOT_UNIT, PROGRAM, revert.STATE) if path.is_symlink() or path.exists()]
    if not ours:
        return False, []
    pending = (revert.read_json(revert.PENDING) or {}).get("before", {})
    before = revert.read_json(revert.BEFORE)
    files = {**pending.get("files", {}), **(before or {}).get("files", {})}
    if files:
        desired.refuse_ranks(now)
    diff = [
        {
            "before_header": path,
            "after_header": path,
            "before": _text(revert.file_state(Path(path))),
            "after": _text(was),
        }
        for path, was in files.items()
    ]
    if not check:
        if pending:
            revert.revert(run, at_boot=False)
        if before is not None:
            with revert.alone():
                revert.put_back(run, before)
        _remove(ours)
    return True, [entry for entry in diff if entry["before"] != entry["after"]]


def _text(state: Mapping[str, Any] | None) -> str:
    return base64.b64decode(state["content"]).decode(errors="replace") if state else ""


def _remove(paths: Sequence[Path]) -> None:
    """Remove files and folders of ours, and the folders above them that are empty then."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for folder in (PROGRAM.parent, revert.STATE.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()
