# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd is told about a supervisor. An edge."""

from __future__ import annotations

import contextlib
import os
import socket


class Notifier:
    """Sends to the socket that systemd names; without one it does nothing."""

    def __init__(self) -> None:
        address = os.environ.get("NOTIFY_SOCKET", "")
        # A leading @ stands for the zero byte of an abstract socket.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if address else None

    def tell(self, *lines: str) -> None:
        """Send lines such as ``READY=1``, ``STATUS=...`` or ``WATCHDOG=1``; one that does not listen is no fault."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto("\n".join(lines).encode(), self._address)
