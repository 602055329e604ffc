# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network settings of the kernel, tried for a moment: an edge, it changes a host and puts it back.

The values before are kept in a file that a reboot takes, as it takes the values. A process of its own puts them back
when nobody else does in time, so that an interrupted test leaves nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.jobs import detached
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_sysctl import RECORD

KEPT = "/run/dgxspark-serving/fabric-test-sysctl.json"
# What TCP does not feel is not tried.
ABOUT_TCP = "net."
POLL = 0.5


def kernels_own(record: Mapping[str, Mapping[str, str]] | None) -> dict[str, str]:
    """The settings from before ``prepare``, from what it has kept; none where it has not been here."""
    return {key: kept["was"] for key, kept in (record or {}).items() if key.startswith(ABOUT_TCP)}


class Trial:
    """Settings that are in force for a while."""

    def __init__(self, files: HostFiles) -> None:
        self.files = files

    def before_prepare(self) -> dict[str, str]:
        """The settings that this host had before ``prepare``."""
        return kernels_own(self.files.record(RECORD))

    def set(self, wanted: Mapping[str, str], seconds: float) -> dict[str, str]:
        """Put settings in force; those that are not about TCP, or that this kernel does not have, are left out.

        :param seconds: after which the values before come back by themselves
        :returns: what is in force now, by key
        """
        here = {
            key: value
            for key, value in wanted.items()
            if key.startswith(ABOUT_TCP) and self.files.read(sysctl.file_of(key)) is not None
        }
        kept = self._kept()
        if kept is None:
            kept = {}
            # Armed before anything is changed.
            detached(lambda: self._guard(seconds))
        now = {key: (self.files.read(sysctl.file_of(key)) or "").strip() for key in here}
        self.files.write(KEPT, json.dumps({**now, **kept}), 0o600)
        for key, value in here.items():
            self._write(key, value)
        return {key: (self.files.read(sysctl.file_of(key)) or "").strip() for key in here}

    def restore(self) -> bool:
        """Put back the values that were before; whether any had to be."""
        kept = self._kept()
        for key, value in (kept or {}).items():
            self._write(key, value)
        self.files.remove(KEPT)
        return bool(kept)

    def _kept(self) -> dict[str, str] | None:
        text = self.files.read(KEPT)
        return None if text is None else dict(json.loads(text))

    def _write(self, key: str, value: str) -> None:
        try:
            self.files.path(sysctl.file_of(key)).write_text(f"{value}\n", encoding="ascii")
        except OSError:
            return  # read-only here: then it has not been changed either

    def _guard(self, seconds: float) -> None:
        """Be the process that waits: ends as soon as the values are back."""
        until = time.monotonic() + seconds
        started = False
        while time.monotonic() < until:
            is_there = self.files.read(KEPT) is not None
            if started and not is_there:
                return
            started = started or is_there
            time.sleep(POLL)
        self.restore()
