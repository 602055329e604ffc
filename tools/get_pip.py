# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in for the get-pip script that ansible-test would download: pip comes from this Python's own ensurepip.

Runs as a program with get-pip's arguments (requirements and `--no-...` options) in a fresh environment, on each Python
that ansible-test uses.
"""

from __future__ import annotations

import subprocess
import sys


def wanted_packages(arguments: list[str]) -> list[str]:
    """Return the requirements among get-pip's arguments; its options do not concern pip."""
    return [argument for argument in arguments if not argument.startswith("-")]


def main() -> int:
    """Install pip, then the requirements; return pip's exit code."""
    subprocess.run([sys.executable, "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*install, *wanted_packages(sys.argv[1:])], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
