# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log lines in the form of vLLM's."""

from __future__ import annotations

import os
import sys
import time

PROCESS = "APIServer"


def log(text: str, source: str = "api_server.py:1", level: str = "INFO", process: str = PROCESS) -> None:
    """Print one line to standard output at once."""
    stamp = time.strftime("%m-%d %H:%M:%S")
    sys.stdout.write(f"({process} pid={os.getpid()}) {level} {stamp} [{source}] {text}\n")
    sys.stdout.flush()


def plain(text: str) -> None:
    """Print a line as the web server below vLLM does, without a prefix."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
