# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every row of a host, a network, Docker, Ansible or the benchmark has its test, and README.md's table is true."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
ROWS = """
P01 P02 P04 P05 P07 P08 P10 P11 P12
M01 M02 M03 M04 M06 M08 M10 M12 M13 M15 M16
S01 S03 S05 S06 S08 S09 S10
D01 D02 D04 D06 D07 D08 D10 D11
N01 N02 N03 N04 N06 N08 N09 N10 N11 N14 N16 N17 N18 N20
U01 U02 U05 U06 U08 U10
A01 A02 A03 A05 A07 A09 A10 A12 A13 A14 A16 A18
B01 B03 B05 B06 B08 B09 B11 B12 B14
""".split()
TABLE = re.findall(r"^\| ([A-Z]\d\d) \|.*`(tests/\S+\.py)::(\w+)` \|$", (HERE / "README.md").read_text("utf-8"), re.M)


def functions_of(path: Path) -> set[str]:
    """Names of the tests in a file."""
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name for node in found if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


HERE_NOW = {name for path in HERE.glob("test_*.py") for name in functions_of(path)}


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_a_test(row: str) -> None:
    assert any(name.startswith(f"test_{row.lower()}_") for name in HERE_NOW) or row in {entry[0] for entry in TABLE}


def test_each_test_belongs_to_a_row() -> None:
    ids = {match[1].upper() for name in HERE_NOW if (match := re.match(r"test_([a-z]\d\d)_", name))}
    assert ids <= set(ROWS)


def test_the_table_is_read() -> None:
    assert len(TABLE) == sum(line.startswith("| ") and "::" in line for line in (HERE / "README.md").open()) > 5


@pytest.mark.parametrize(("row", "file", "name"), TABLE)
def test_a_test_with_hosts_is_where_the_table_says(row: str, file: str, name: str) -> None:
    assert row in ROWS
    assert name in functions_of(CHECKOUT / file)
