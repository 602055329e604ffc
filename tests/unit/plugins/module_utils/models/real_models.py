# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real models' configs, each with where it is from and what is published of its sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import config

MODELS = Path(__file__).parents[4] / "fixtures" / "models"


def read(name: str) -> dict[str, Any]:
    """A fixture: ``source``, ``published``, ``config`` and, for the lab's, ``headers``."""
    return json.loads((MODELS / f"{name}.json").read_text("utf-8"))


def facts(name: str) -> dict[str, Any]:
    """What is known of a model."""
    found = read(name)
    return config.facts(found["config"], found.get("headers", {}))


def kinds(name: str) -> list[dict[str, Any]]:
    """The kinds of a model's layers."""
    return facts(name)["kv"]["kinds"]
