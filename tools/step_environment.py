# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment of programs that work on the checkout."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def step_environment(inherited: Mapping[str, str], checkout: Path, prefix: Path = Path(sys.prefix)) -> dict[str, str]:
    """Return the inherited environment with this virtual environment first on PATH, and Ansible set to the checkout."""
    return {
        **inherited,
        "PATH": os.pathsep.join([str(prefix / "bin"), inherited.get("PATH", os.defpath)]),
        "ANSIBLE_CONFIG": str(checkout / "ansible.cfg"),
        "PYTHONUNBUFFERED": "1",
    }


def plain_output() -> dict[str, str]:
    """Return the variables that keep colours out of a log."""
    return {"ANSIBLE_NOCOLOR": "1", "NO_COLOR": "1", "PY_COLORS": "0"}
