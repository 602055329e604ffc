# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supervisor as one file."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.build import build


def test_the_same_sources_give_the_same_bytes() -> None:
    assert build() == build()


def test_it_holds_the_package_and_no_time_of_ours() -> None:
    with zipfile.ZipFile(io.BytesIO(build())) as archive:
        names = archive.namelist()
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert {"__main__.py", "dgxspark_supervisor/__init__.py", "dgxspark_supervisor/decide.py"} <= set(names)
    assert all(name.endswith(".py") for name in names)


def test_a_bare_python_runs_it_and_says_what_is_wrong(tmp_path: Path) -> None:
    """Without this collection, Ansible or any other package."""
    program = tmp_path / "supervisor.pyz"
    program.write_bytes(build())
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program), "--root", str(tmp_path), "run", "dgxspark-big-0-r0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 78
    assert "deploy again" in done.stdout
    assert "Traceback" not in done.stderr
