# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the documentation of plugins and roles with antsibull-docs, in a copy of the checkout (it follows links)."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tools.collection_tree import export_collection


def main() -> int:
    """Command line: no arguments; returns antsibull-docs' exit code."""
    with tempfile.TemporaryDirectory(prefix="dgxspark-docs-") as folder:
        tree = export_collection(Path(folder))
        command = ["antsibull-docs", "lint-collection-docs", "--plugin-docs", str(tree)]
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
