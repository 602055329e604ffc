# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images whose name was given to another one: nobody but us knows what they were. An edge, it keeps a file."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_whole

NAME = "replaced-images.json"
# So many are remembered.
KEEP = 50


def remember(image_id: str, states: Path) -> None:
    """Write down that this one lost its name.

    :param states: folder of what must survive a reboot
    """
    ids = [known for known in replaced(states) if known != image_id] + [image_id]
    write_whole(states / NAME, (json.dumps(ids[-KEEP:], indent=2) + "\n").encode())


def replaced(states: Path) -> list[str]:
    """Ids of those that did, the oldest first."""
    try:
        return [str(known) for known in json.loads((states / NAME).read_text(encoding="utf-8"))]
    except (FileNotFoundError, ValueError):
        return []
