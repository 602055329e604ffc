# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client's place among all who want a processor. An edge."""

from __future__ import annotations

import contextlib
import os

# The client needs little of a processor, but at once: who waits for one stamps late. The least of the real-time
# priorities; niceness counts only within a session where the kernel groups processes by these.
REAL_TIME = 1
NICE = -5


def come_first() -> None:
    """Have a processor at once, as far as this user may."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME))
    except OSError:
        with contextlib.suppress(OSError):
            os.nice(NICE)
