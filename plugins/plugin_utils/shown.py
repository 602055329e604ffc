# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user gets to see of a run: tables and commands on the screen, whatever the verbosity, and files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ansible.utils.display import Display


def show(lines: Iterable[str]) -> None:
    """Print lines with an empty one before and after."""
    for line in ["", *lines, ""]:
        Display().display(line)


def save(path: str, document: Any) -> None:
    """Write a file of JSON on the controller."""
    Path(path).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
