# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpacking of archives that the lab has made itself."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def unpack(archive: tarfile.TarFile, folder: Path, members: Iterable[tarfile.TarInfo] | None = None) -> None:
    """Unpack members, or all of them, within a folder; Python 3.11.2, as Debian 12 has it, knows no filters yet."""
    filtered: dict[str, Any] = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}
    archive.extractall(folder, members, **filtered)
