# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who uses the loop, as the loop sees it. Pure."""

from __future__ import annotations

from typing import Protocol

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.link import Link
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.reply import Reply


class Owner(Protocol):
    """Who uses the loop: the load."""

    def ended(self, reply: Reply, link: Link | None) -> None:
        """A request has ended; the connection is given back, None when it is gone."""

    def long(self, reply: Reply) -> None:
        """A reply under way has got long: its bytes are not needed any more."""

    def opened(self, link: Link | None) -> None:
        """A connection for later is open; None when it could not be opened."""

    def idle(self) -> None:
        """There is nothing to do just now."""

    def sweep(self, now: float) -> bool:
        """Called now and then; say whether to go on."""


class Nobody:
    """An owner that wants nothing."""

    def ended(self, reply: Reply, link: Link | None) -> None:
        """Forget it."""

    def long(self, reply: Reply) -> None:
        """Let it have them."""

    def opened(self, link: Link | None) -> None:
        """Forget it."""

    def idle(self) -> None:
        """Do nothing."""

    def sweep(self, now: float) -> bool:
        """Go on."""
        return True
