# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventories that people copy can be planned as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils import plan
from ansible_collections.dgxspark.serving.plugins.module_utils.request import Request

CHECKOUT = Path(__file__).parents[2]
INVENTORIES = CHECKOUT / "inventories"


def recipe(name: str) -> Path:
    return CHECKOUT / "recipes" / f"{name}.yaml"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "world_size", "replicas"), [("single", 1, 1), ("pair", 1, 2), ("pair", 2, 1), ("nine", 0, 5)]
)
def test_plan(name: str, world_size: int, replicas: int) -> None:
    hosts = read(INVENTORIES / name / "hosts.yml")["sparks"]["hosts"]
    shared = read(INVENTORIES / name / "group_vars" / "sparks.yml")
    variables = {host: {**shared, **own} for host, own in hosts.items()}
    made = plan.make(
        Request("sparks", list(hosts), variables, world_size=world_size, load_recipe=lambda name: read(recipe(name)))
    )
    assert len(made["replicas"]) == replicas
    assert sorted(made["ranks"]) == sorted(hosts)
    assert made["warnings"] == []
