# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a folder of .deb files a flat apt repository and this host's only source. Usage: apt_index FOLDER"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

SOURCES = Path("/etc/apt/sources.list.d/lab.sources")


def paragraph(control: str, package: Path) -> str:
    """Return a package's paragraph in the index: its control file, and where the package is."""
    content = package.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return f"{control.strip()}\nFilename: ./{package.name}\nSize: {len(content)}\nSHA256: {digest}\n"


def control_of(package: Path) -> str:
    """Return the control file of a package."""
    return subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True, check=True).stdout


def main(folder: Path) -> None:
    """Write index and source."""
    packages = sorted(folder.glob("*.deb"))
    index = "\n".join(paragraph(control_of(package), package) for package in packages)
    (folder / "Packages").write_text(index, encoding="utf-8")
    SOURCES.parent.mkdir(parents=True, exist_ok=True)
    SOURCES.write_text(f"Types: deb\nURIs: file:{folder}\nSuites: ./\nTrusted: yes\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
