# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that hosts need for their ranks."""

from __future__ import annotations

import io
import zipfile

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths
from ansible_collections.dgxspark.serving.plugins.plugin_utils.rank_files import rank_files


def test_rank_files() -> None:
    files = rank_files()
    assert "__main__.py" in zipfile.ZipFile(io.BytesIO(files.program)).namelist()
    compile(files.ray_rank, "ray_rank.py", "exec")
    start = next(line for line in files.unit.decode().splitlines() if line.startswith("ExecStart="))
    assert f"{HostPaths().program} run %i" in start
