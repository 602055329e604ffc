# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's systemd and programs, as far as the gateway sees them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import units


class FakeHost:
    """Runs commands: systemctl on two units, and checks of a configuration.

    :ivar broken: text of a file with which the front does not start
    :ivar refused: text of a file that the check does not like
    :ivar containers: names of those that run
    """

    def __init__(self, folder: Path, broken: str = "broken", refused: str = "refused") -> None:
        self.folder = folder
        self.broken, self.refused = broken, refused
        self.containers: list[str] = []
        self.ran: list[list[str]] = []
        self.active = {units.FRONT: "inactive", units.ROUTER: "inactive"}
        self.enabled = {units.FRONT: False, units.ROUTER: False}

    def verbs(self) -> list[str]:
        """What systemctl was told to do."""
        told = [argv[1:] for argv in self.ran if argv[0] == "systemctl" and argv[1] not in ("show", "reset-failed")]
        return [" ".join(words) for words in told]

    def __call__(self, argv: Sequence[str]) -> Output:
        self.ran.append(list(argv))
        if argv[0] == "systemctl":
            return self._systemctl(argv[1], argv[-1])
        if argv[0] == "docker":
            return Output(0, "\n".join(self.containers))
        if argv[0] == "check":
            text = Path(argv[1]).read_text(encoding="utf-8")
            return Output(1, err=f"[ALERT] (1) : config : {argv[1]}: bad word") if text == self.refused else Output(0)
        if argv[0] == "journalctl":
            return Output(0, "[ALERT]    (9) : cannot bind socket (Address already in use) [0.0.0.0:8080]\n")
        return Output(0)

    def _systemctl(self, verb: str, name: str) -> Output:
        if verb == "show":
            enabled = "enabled" if self.enabled[name] else "disabled"
            pid = 4 if self.active[name] == "active" else 0
            return Output(
                0, f"ActiveState={self.active[name]}\nUnitFileState={enabled}\nMainPID={pid}\nSubState=running\n"
            )
        if verb in ("enable", "disable"):
            self.enabled[name] = verb == "enable"
        elif verb in ("start", "restart", "reload"):
            lives = (self.folder / "haproxy.cfg").read_text(encoding="utf-8") != self.broken
            self.active[name] = "active" if lives else "failed"
        elif verb == "stop":
            self.active[name] = "inactive"
        return Output(0)
