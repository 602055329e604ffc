# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make supervisor.pyz, the supervisor as one file that a host's Python runs. The same sources give the same bytes."""

from __future__ import annotations

import io
import zipfile
from importlib.resources import files

PACKAGE = "dgxspark_supervisor"
MAIN = f"""import sys

from {PACKAGE}.command import main

sys.exit(main(sys.argv[1:]))
"""
# The first moment that a zip file can tell.
EPOCH = (1980, 1, 1, 0, 0, 0)


def build() -> bytes:
    """The bytes of supervisor.pyz."""
    package = files(__package__ or "")
    sources = {
        f"{PACKAGE}/{source.name}": source.read_bytes() for source in package.iterdir() if source.name.endswith(".py")
    }
    sources["__main__.py"] = MAIN.encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(sources):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, sources[name])
    return buffer.getvalue()
