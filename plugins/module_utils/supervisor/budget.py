# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a group may be restarted, and how long it waits before each restart."""

from __future__ import annotations

from collections.abc import Sequence

# Seconds before the first, second, ... restart within the window; the last one holds for all further ones.
BACK_OFF = (0.0, 5.0, 15.0, 30.0, 60.0)


def within(failures: Sequence[float], now: float, window: float) -> tuple[float, ...]:
    """The failures, as times in seconds, that still count at ``now``."""
    return tuple(at for at in failures if now - at < window)


def spent(failures: Sequence[float], limit: int) -> bool:
    """Whether one more failure than there may be restarts is among those that count."""
    return len(failures) > limit


def delay(failures: Sequence[float]) -> float:
    """Seconds to wait before the restart that the last of the failures asks for."""
    return BACK_OFF[min(len(failures), len(BACK_OFF)) - 1] if failures else 0.0
