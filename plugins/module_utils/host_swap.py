# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Swap off for good, and back: an edge, it changes a host.

Nothing here makes systemd read its units anew: that takes the GPU from containers that run (field fault D08). A mask is
a link, which counts from the next boot; what runs is stopped beside that.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab, meminfo, swap
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB, gib

RECORD = "swap"
# Bytes that stay available while what was swapped out comes back.
RESERVE = GIB


@dataclass
class Done:
    """What was done, or would be.

    :ivar before: fstab before
    :ivar after: fstab after
    :ivar devices: those that go off, or come on again
    :ivar units: units that are masked, or not any more
    :ivar services: services that are stopped, or started again
    """

    before: str = ""
    after: str = ""
    devices: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    services: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.before != self.after or self.devices or self.units or self.services)


class HostSwap:
    """The swap of a host."""

    def __init__(self, files: HostFiles) -> None:
        self.files = files

    def absent(self, check_mode: bool) -> Done:
        """Switch swap off, now and for each boot.

        :raises Refused: when what is swapped out does not fit, or when swap is still on afterwards
        """
        raw = self.files.look(swap.sources())
        text = self.files.read(fstab.PATH) or ""
        on = swap.swaps(raw.files.get(swap.SWAPS, ""))
        units = [one.name for one in swap.returns(raw) if one.unit]
        services = swap.active_services(raw.output(swap.LISTED).out)
        done = Done(text, fstab.commented(text), [one.device for one in on], units, services)
        self._must_fit(on)
        if check_mode or not done.changed:
            return done
        self._keep(done, on)
        if done.before != done.after:
            self.files.write(fstab.PATH, done.after)
        for unit in units:
            self._mask(unit)
        if services:
            stopped = self.files.run(["systemctl", "stop", *services])
            if not stopped.ok:
                done.warnings.append(f"Services of swap did not stop: {_words(stopped.err)}")
        errors = [self._off(one) for one in self._on()]
        left = self._on()
        if left:
            said = "; ".join(error for error in errors if error) or "something switched it on again"
            raise Refused(f"Swap is still on: {', '.join(one.device for one in left)} ({said}). Switch it off by hand.")
        return done

    def restored(self, check_mode: bool) -> Done:
        """Put back what :meth:`absent` changed; what cannot be put back is a warning."""
        record = self.files.record(RECORD) or {}
        text = self.files.read(fstab.PATH) or ""
        here = {one.device for one in self._on()}
        services = record.get("stopped", [])
        # A zram device is made by its service.
        back = [
            one
            for one in record.get("on", [])
            if one["device"] not in here and not (services and "zram" in one["device"])
        ]
        masked = record.get("masked", {})
        done = Done(text, fstab.restored(text), [one["device"] for one in back], list(masked), services)
        if check_mode or not (record or done.changed):
            return done
        if done.before != done.after:
            self.files.write(fstab.PATH, done.after)
        for unit, before in masked.items():
            self._unmask(unit, before)
        if services:
            started = self.files.run(["systemctl", "start", *services])
            if not started.ok:
                done.warnings.append(
                    f"{', '.join(services)}: {_words(started.err)}. The next boot starts what is enabled."
                )
        for one in back:
            priority = ["--priority", str(one["priority"])] if one["priority"] >= 0 else []
            came = self.files.run(["swapon", *priority, one["device"]])
            if not came.ok:
                done.warnings.append(f"{one['device']} did not come on again: {_words(came.err)}")
        self.files.forget(RECORD)
        return done

    def _on(self) -> list[swap.Swap]:
        return swap.swaps(self.files.read(swap.SWAPS) or "")

    def _off(self, one: swap.Swap) -> str:
        said = self.files.run(["swapoff", one.device])
        return "" if said.ok else _words(said.err)

    def _must_fit(self, on: list[swap.Swap]) -> None:
        used = sum(one.used for one in on)
        available = meminfo.fields(self.files.read(meminfo.PATH) or "").get("MemAvailable")
        if used and available is not None and used + RESERVE > available:
            raise Refused(
                f"{gib(used)} are swapped out, and only {gib(available)} of memory are available to take them back. "
                f"Stop what uses memory first; {gib(used + RESERVE)} are needed."
            )

    def _keep(self, done: Done, on: list[swap.Swap]) -> None:
        """Write down what was, before anything is changed; what an earlier run wrote stays."""
        record = self.files.record(RECORD) or {"on": [], "masked": {}, "stopped": []}
        known = {one["device"] for one in record["on"]}
        record["on"] += [{"device": one.device, "priority": one.priority} for one in on if one.device not in known]
        for unit in done.units:
            record["masked"].setdefault(unit, self._unit_before(unit))
        record["stopped"] = sorted({*record["stopped"], *done.services})
        self.files.keep(RECORD, record)

    # A unit file that an administrator wrote is where the mask must be: its content is kept in the record.

    def _unit_before(self, unit: str) -> dict[str, Any] | None:
        path = self.files.path(f"{swap.OWN_UNITS}/{unit}")
        if path.is_symlink():
            return {"link": os.readlink(path)}
        text = self.files.read(f"{swap.OWN_UNITS}/{unit}")
        return None if text is None else {"text": text, "mode": stat.S_IMODE(path.stat().st_mode)}

    def _mask(self, unit: str) -> None:
        path = self.files.path(f"{swap.OWN_UNITS}/{unit}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/null")

    def _unmask(self, unit: str, before: dict[str, Any] | None) -> None:
        path = self.files.path(f"{swap.OWN_UNITS}/{unit}")
        if not path.is_symlink() or os.readlink(path) != "/dev/null":
            return  # somebody else has put another file there
        path.unlink()
        if before and "link" in before:
            path.symlink_to(before["link"])
        elif before:
            self.files.write(f"{swap.OWN_UNITS}/{unit}", before["text"], before["mode"])


def _words(text: str) -> str:
    return " ".join(text.split())
