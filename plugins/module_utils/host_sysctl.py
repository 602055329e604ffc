# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings of ours on a host, now and for each boot, and back: an edge, it changes a host.

Only our own keys are set, one by one: a key of somebody else's that this kernel does not know is no fault of ours
(field fault S10).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.dgxspark.serving.plugins.module_utils import tuning
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles

RECORD = "sysctl"


@dataclass
class Key:
    """One setting.

    :ivar was: before this run; None where this kernel has no such setting
    :ivar now: after it
    :ivar wanted: what it is to be
    :ivar note: why it is not as wanted, or empty
    """

    key: str
    was: str | None
    now: str | None
    wanted: str
    note: str = ""


@dataclass
class Done:
    """What was done, or would be.

    :ivar changed: whether anything is not as it was
    :ivar files: our files before and after, by path; None for one that is not there
    """

    changed: bool = False
    keys: list[Key] = field(default_factory=list)
    files: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class HostSysctl:
    """The kernel settings of a host."""

    def __init__(self, files: HostFiles) -> None:
        self.files = files

    def present(self, wanted: Mapping[str, str], check_mode: bool) -> Done:
        """Set them now and at each boot; what cannot be set here is noted with its key (field fault S09)."""
        done = Done()
        raw = self.files.look(sysctl.sources(wanted))
        no_bbr = self._without_bbr(raw, wanted, check_mode, done)
        possible = {key: value for key, value in wanted.items() if key not in no_bbr}
        record = self.files.record(RECORD) or {}
        no_more = {key: record.pop(key) for key in list(record) if key not in wanted}
        for key, value in possible.items():
            was = sysctl.now(raw, key)
            if was is not None:
                record[key] = {"was": record.get(key, {}).get("was", was), "set": value}
        if record and not check_mode:
            self.files.keep(RECORD, {**record, **no_more})
        uses_bbr = tuning.BBR in possible.values()
        self._put(tuning.MODULES_PATH, tuning.MODULES_LOAD if uses_bbr else None, check_mode, done)
        self._put(tuning.SYSCTL_PATH, tuning.sysctl_file(possible) if possible else None, check_mode, done)
        for key, value in wanted.items():
            if key in no_bbr:
                was = sysctl.now(raw, key)
                done.keys.append(Key(key, was, was, value, no_bbr[key]))
            else:
                done.keys.append(self._set(key, value, check_mode, done))
        for key, kept in no_more.items():
            done.keys.append(self._back(key, kept, check_mode, done))
        if no_more and not check_mode:
            self.files.keep(RECORD, record)
        self._warn_of_later_files(raw, possible, done)
        return done

    def restored(self, check_mode: bool) -> Done:
        """Put back the values that were, and remove our files."""
        done = Done()
        record = self.files.record(RECORD)
        for key, kept in (record or {}).items():
            done.keys.append(self._back(key, kept, check_mode, done))
        for path in (tuning.SYSCTL_PATH, tuning.MODULES_PATH):
            self._put(path, None, check_mode, done)
        done.changed = done.changed or record is not None
        if not check_mode:
            self.files.forget(RECORD)
        return done

    def _without_bbr(self, raw: Raw, wanted: Mapping[str, str], check_mode: bool, done: Done) -> dict[str, str]:
        """Keys that want bbr where this kernel has none, with the reason; loads it where it can (field fault S01)."""
        keys = [key for key, value in wanted.items() if value == tuning.BBR and sysctl.now(raw, key) is not None]
        if not keys or tuning.BBR in raw.text(sysctl.file_of(sysctl.AVAILABLE)).split():
            return {}
        said = self.files.run(["modprobe", *(["--dry-run"] if check_mode else []), tuning.BBR_MODULE])
        available = (self.files.read(sysctl.file_of(sysctl.AVAILABLE)) or "").split()
        if said.ok and (check_mode or tuning.BBR in available):
            done.changed = True
            return {}
        reason = " ".join(said.err.split()) or f"modprobe {tuning.BBR_MODULE} gave code {said.code}"
        done.warnings.append(
            f"This kernel has no bbr ({reason}): {', '.join(keys)} stays as it is, the other settings are in force. "
            "Install the kernel's extra modules, or set it to cubic in host_sysctl."
        )
        return dict.fromkeys(keys, f"not possible here: {reason}")

    def _put(self, path: str, text: str | None, check_mode: bool, done: Done) -> None:
        before = self.files.read(path)
        done.files[path] = (before, text)
        if before == text:
            return
        done.changed = True
        if check_mode:
            return
        if text is None:
            self.files.remove(path)
        else:
            self.files.write(path, text)

    def _now(self, key: str) -> str | None:
        try:
            text = self.files.read(sysctl.file_of(key))
        except OSError:
            return None  # one that can only be written
        return None if text is None else text.strip()

    def _set(self, key: str, value: str, check_mode: bool, done: Done) -> Key:
        was = self._now(key)
        if was is None:
            return Key(key, was, was, value, "not possible here: this kernel has no such setting")
        if sysctl.same(was, value):
            return Key(key, was, was, value)
        path = self.files.path(sysctl.file_of(key))
        if not os.access(path, os.W_OK):
            return Key(key, was, was, value, "not possible here: it is read-only")
        if check_mode:
            done.changed = True
            return Key(key, was, was, value)
        try:
            path.write_text(f"{value}\n", encoding="ascii", errors="replace")
        except OSError as error:
            return Key(key, was, was, value, f"not possible here: {error.strerror}")
        now = self._now(key)
        kept = now is None or not sysctl.same(now, value)
        done.changed = done.changed or now != was
        return Key(key, was, now, value, f"the kernel keeps {now}" if kept else "")

    def _back(self, key: str, kept: Mapping[str, str], check_mode: bool, done: Done) -> Key:
        now = self._now(key)
        if now is not None and not sysctl.same(now, kept["set"]) and not sysctl.same(now, kept["was"]):
            return Key(key, now, now, kept["was"], "left as it is: it was changed since")
        return self._set(key, kept["was"], check_mode, done)

    def _warn_of_later_files(self, raw: Raw, possible: Mapping[str, str], done: Done) -> None:
        """Say which file beats ours at the next boot (field fault S06)."""
        rows = sysctl.at_boot({**raw.files, tuning.SYSCTL_PATH: tuning.sysctl_file(possible)}, raw.links)
        for key, value in possible.items():
            row = sysctl.effective(rows, key)
            if row is not None and not sysctl.same(row.value, value):
                done.warnings.append(
                    f"After the next boot {key} is {row.value}, from {row.place}, which is read after ours. "
                    "Remove that row, or set it so in host_sysctl."
                )
