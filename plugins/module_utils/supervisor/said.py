# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines for the journal, which systemd keeps."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """Write one line, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
