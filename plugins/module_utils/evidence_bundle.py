# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be seen of all ranks of a host, and what was saved of their failures, as one archive: an edge."""

from __future__ import annotations

import tarfile
import tempfile
import time
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.command import save_all
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

PREFIX = "dgxspark-evidence-"


def bundle(paths: HostPaths, hostname: str, now: float) -> Path | None:
    """Write the archive and remove the one before it.

    :param hostname: goes into its name, for archives of several hosts come into one folder
    :param now: Unix seconds
    :returns: the archive; None when the host has no rank of ours
    """
    top = f"{PREFIX}{hostname}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now))}"
    target = paths.states / f"{top}.tar.gz"
    with tempfile.TemporaryDirectory() as scratch:
        names = save_all(paths, Path(scratch))
        saved = [folder for folder in sorted(paths.states.glob("*/evidence")) if folder.is_dir()]
        if not names and not saved:
            return None
        paths.states.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        with tarfile.open(part, "w:gz") as archive:
            archive.add(scratch, f"{top}/now")
            for folder in saved:
                archive.add(folder, f"{top}/saved/{folder.parent.name}")
    for old in paths.states.glob(f"{PREFIX}*.tar.gz"):
        old.unlink()
    part.replace(target)
    return target
