# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/variables.md, written from the table of variables and the roles' argument specs.

`make docs` writes it; a unit test holds the file against what this gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.variables import VARIABLES, Variable

PAGE = Path("docs/variables.md")

INTRO = """# Variables

<!-- Written by `make docs`. -->

Set them in `group_vars/sparks.yml` for all hosts, in `host_vars/NAME.yml` for one, or with `-e`. A name that is not on
this page and looks like one of it is an error, so a misspelling is never silently without effect.

What wins, from weak to strong: the default, the recipe, `group_vars`, `host_vars` (of the replica's first host), the
entry in `serving_deployments`, `-e`. A mapping such as `serving_engine_args` is replaced as a whole, not merged; only a
recipe's flags and environment stay beside yours, flag by flag.

## What to serve
"""

ROLES = """
## Roles
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _value(value: Any) -> str:
    return "" if value in (None, "") else f"`{json.dumps(value)}`"


def _allowed(variable: Variable) -> str:
    if variable.choices:
        return ", ".join(f"`{choice}`" for choice in variable.choices)
    if variable.minimum is not None:
        return f"{variable.kind}, {variable.minimum:g} to {variable.maximum:g}"
    return variable.kind


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    header = ("Variable", "Allowed", "Default", "`-e` short", "Meaning")
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def _plain(description: str | list[str]) -> str:
    """Ansible's markup as Markdown, for as much of it as the specs use."""
    text = " ".join([description] if isinstance(description, str) else description)
    text = re.sub(r"\b[CVO]\(([^)]*)\)", r"`\1`", text)
    return re.sub(r"\b(?:M|RV)\(([^)]*)\)", lambda match: f"`{match.group(1).split('#')[0].split('.')[-1]}`", text)


def _role_rows(spec: dict[str, Any]) -> list[tuple[str, ...]]:
    """Rows of the variables that users set: those that a playbook must give are left out."""
    return [
        (
            f"`{name}`",
            ", ".join(f"`{choice}`" for choice in option["choices"]) if "choices" in option else option["type"],
            _value(option["default"]),
            "",
            _plain(option["description"]),
        )
        for name, option in spec["argument_specs"]["main"]["options"].items()
        if "default" in option
    ]


def page(roles: Path) -> str:
    """The whole page.

    :param roles: the folder of the roles
    """
    ours = _table(
        (
            f"`{variable.name}`",
            _allowed(variable),
            _value(variable.default),
            f"`{variable.short}`" if variable.short else "",
            variable.description,
        )
        for variable in VARIABLES
    )
    specs = [yaml.safe_load(path.read_text("utf-8")) for path in sorted(roles.glob("*/meta/argument_specs.yml"))]
    return INTRO + "\n" + ours + ROLES + "\n" + _table(row for spec in specs for row in _role_rows(spec))


if __name__ == "__main__":
    PAGE.write_text(page(Path("roles")), "utf-8")
