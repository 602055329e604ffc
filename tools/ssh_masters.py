# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""End the ssh connections that Ansible keeps open, so that a run leaves no process behind."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "ANSIBLE_SSH_CONTROL_PATH_DIR"
ATTEMPTS = 10
PAUSE = 0.3  # seconds


@contextlib.contextmanager
def own_control_folder() -> Iterator[dict[str, str]]:
    """Give environment variables that put Ansible's sockets into a folder of this run; end what is there at the end."""
    folder = Path(tempfile.mkdtemp(prefix="dgxspark-ssh-"))
    try:
        yield {VARIABLE: str(folder)}
    finally:
        # A connection that was being made when Ansible was stopped can still put its socket here: look again then.
        for _attempt in range(ATTEMPTS):
            _end_connections(folder)
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(PAUSE)


def _end_connections(folder: Path) -> None:
    """Ask each connection that has its socket in a folder to end."""
    for socket in list(folder.iterdir()):
        # The host name is not used, the socket is named; but ssh wants one.
        command = ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "none"]
        with contextlib.suppress(FileNotFoundError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, check=False, timeout=5)
