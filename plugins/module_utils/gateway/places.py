# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the gateway's files lie on its host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import FOLDER, RUN_FOLDER


@dataclass(frozen=True)
class Places:
    """All paths, below a root that tests move.

    :ivar root: ``/`` on a host
    """

    root: Path = Path("/")

    def _at(self, absolute: str) -> Path:
        return self.root / absolute.lstrip("/")

    @property
    def folder(self) -> Path:
        """What the gateway reads."""
        return self._at(FOLDER)

    @property
    def staged(self) -> Path:
        """The next one, until it has been checked."""
        return self._at(f"{FOLDER}.new")

    @property
    def previous(self) -> Path:
        """The one before."""
        return self._at(f"{FOLDER}.previous")

    @property
    def record(self) -> Path:
        """What was installed, with placeholders in place of secrets."""
        return self.folder / RECORD

    @property
    def noted(self) -> Path:
        """Debian packages that came with the gateway; not among the replicas' states, which go before it."""
        return self._at(f"{FOLDER}-packages.json")

    @property
    def socket(self) -> Path:
        """Where HAProxy tells how it is."""
        return self._at(f"{RUN_FOLDER}/admin.sock")

    def unit(self, name: str) -> Path:
        """The file of a unit."""
        return self._at(f"/etc/systemd/system/{name}")

    @property
    def venvs(self) -> list[Path]:
        """Virtual environments of gateways."""
        return sorted(self._at("/opt/dgxspark-serving").glob("gateway-*"))


RECORD = "rendered.json"
