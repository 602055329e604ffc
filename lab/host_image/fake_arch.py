# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the host's Python, and with it Ansible's facts, say aarch64; a .pth file imports this at every start."""

from __future__ import annotations

import os
import platform

_REAL = os.uname()
_ARM = os.uname_result((_REAL.sysname, _REAL.nodename, _REAL.release, _REAL.version, "aarch64"))


def _uname() -> os.uname_result:
    """Answer like os.uname of a DGX Spark. The host name is the one at the start of this Python."""
    return _ARM


os.uname = _uname
platform.machine = lambda: _ARM.machine
