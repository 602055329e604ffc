# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles: `meta/argument_specs.yml` is the contract, and `defaults/main.yml` holds the same keys and values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROLES = Path(__file__).resolve().parents[2] / "roles"
NAMES = sorted(path.name for path in ROLES.iterdir() if path.is_dir())
MISSING = object()


def load(path: Path) -> dict[str, Any]:
    """Return a YAML file's mapping; no file or an empty one is an empty mapping."""
    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}) if path.exists() else {}


def options_of(role: str) -> dict[str, dict[str, Any]]:
    """Return the options of all entry points of a role; one that several of them have must be the same in each."""
    found: dict[str, dict[str, Any]] = {}
    for name, entry in load(ROLES / role / "meta" / "argument_specs.yml")["argument_specs"].items():
        for option, spec in (entry.get("options") or {}).items():
            assert found.setdefault(option, spec) == spec, f"{role}: {option} differs in entry point {name}"
    return found


def specified_defaults(options: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what `defaults/main.yml` has to hold."""
    return {name: spec["default"] for name, spec in options.items() if "default" in spec}


def differences(wanted: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return one line for each key that is on one side alone or has another value or type."""
    lines = []
    for name in sorted(wanted.keys() | found.keys()):
        one, other = wanted.get(name, MISSING), found.get(name, MISSING)
        if one is MISSING:
            lines.append(f"{name}: in defaults, without a default in argument_specs")
        elif other is MISSING:
            lines.append(f"{name}: has a default in argument_specs, is not in defaults")
        elif type(one) is not type(other) or one != other:
            lines.append(f"{name}: argument_specs say {one!r}, defaults say {other!r}")
    return lines


def test_there_are_roles() -> None:
    """An empty list would make every test below pass without a look at anything."""
    assert NAMES


@pytest.mark.parametrize("role", NAMES)
def test_defaults_equal_argument_specs(role: str) -> None:
    assert differences(specified_defaults(options_of(role)), load(ROLES / role / "defaults" / "main.yml")) == []


@pytest.mark.parametrize("role", NAMES)
def test_required_options_have_no_default(role: str) -> None:
    assert [name for name, spec in options_of(role).items() if spec.get("required") and "default" in spec] == []


@pytest.mark.parametrize("role", NAMES)
def test_public_variables_carry_the_role_name(role: str) -> None:
    names = {*options_of(role), *load(ROLES / role / "defaults" / "main.yml")}
    assert [name for name in sorted(names) if not name.startswith(f"{role}_")] == []


@pytest.mark.parametrize("role", NAMES)
def test_vars_are_private(role: str) -> None:
    names = [name for path in (ROLES / role / "vars").glob("*.yml") for name in load(path)]
    assert [name for name in names if not name.startswith(f"__{role}_")] == []


def test_differences_are_seen() -> None:
    """Values are compared with their types: 1 is not true, and "8000" is not 8000."""
    assert differences({"a": 1, "b": 1, "c": "8000", "e": 1}, {"a": True, "c": 8000, "d": 1, "e": 1}) == [
        "a: argument_specs say 1, defaults say True",
        "b: has a default in argument_specs, is not in defaults",
        "c: argument_specs say '8000', defaults say 8000",
        "d: in defaults, without a default in argument_specs",
    ]
