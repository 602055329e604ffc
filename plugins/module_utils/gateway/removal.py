# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove all that there is of a gateway on its host, and remember what came with it. An edge."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import account, decide
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.apply import Gateway
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.service import containers, read_units
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_whole


class Removal:
    """What there is of a gateway, and how it goes."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        places = gateway.places
        self.units = [
            name
            for name, service in gateway.services.items()
            if places.unit(name).exists() or service.state().active in decide.UP
        ]
        folders = (places.folder, places.staged, places.previous, *places.venvs)
        self.folders = [path for path in folders if path.exists()]
        self.user = account.exists()

    def words(self) -> list[str]:
        """All that is there."""
        user = [f"user {account.USER}"] if self.user else []
        return [*self.units, *map(str, self.folders), *user]

    def remove(self) -> None:
        """Remove it.

        :raises Refused: a command fails
        :raises OSError: the file system does not let us
        """
        gateway = self.gateway
        for name in self.units:
            gateway.services[name].remove(gateway.places.unit(name))
        if self.units and containers(gateway.run) == []:
            read_units(gateway.run)
        for path in self.folders:
            shutil.rmtree(path)
        gateway.places.noted.unlink(missing_ok=True)
        for path in {one.parent for one in (*self.folders, gateway.places.noted)}:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        if self.user:
            account.remove(gateway.run)

    # Debian packages that were installed for the gateway

    def noted(self) -> list[str]:
        """Those that are remembered."""
        try:
            return list(json.loads(self.gateway.places.noted.read_bytes()))
        except FileNotFoundError:
            return []

    def note(self, packages: Iterable[str]) -> None:
        """Remember more of them."""
        names = sorted({*self.noted(), *packages})
        write_whole(self.gateway.places.noted, (json.dumps(names) + "\n").encode())
