# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each known way to measure something else has its test, and the table in tests/bench/README.md tells the truth."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
LINES = (CHECKOUT / "tests/bench/README.md").read_text("utf-8").splitlines()
ENTRY = re.compile(r"\| (B\d{1,2}) \| [^|]+ \| `(tests/\S+\.py)::(test_\w+)` \|")
TABLE = [match.groups() for match in map(ENTRY.fullmatch, LINES) if match]
ROWS = [f"B{number}" for number in range(1, 22)]


def functions_of(path: Path) -> set[str]:
    """Names of the tests in a file."""
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name for node in found if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_each_row_has_its_tests_in_order() -> None:
    assert list(dict.fromkeys(row for row, _file, _name in TABLE)) == ROWS


def test_each_line_of_the_table_is_read() -> None:
    assert len(TABLE) == sum("::" in line for line in LINES)


def test_no_test_holds_a_row_twice() -> None:
    assert len(TABLE) == len(set(TABLE))


@pytest.mark.parametrize(("row", "file", "name"), TABLE, ids=[f"{row}-{name}" for row, _file, name in TABLE])
def test_a_test_is_where_the_table_says(row: str, file: str, name: str) -> None:
    assert name in functions_of(CHECKOUT / file), row
