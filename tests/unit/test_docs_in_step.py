# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""README.zh-CN.md follows README.md: the same headings, code blocks and tables in the same order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
HEADING = re.compile(r"^(#{1,6})\s")


@dataclass
class Outline:
    """What two translations of a text have in common."""

    headings: list[int] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    table_rows: list[int] = field(default_factory=list)


def outline(text: str) -> Outline:
    """Return the levels of headings, the code blocks with their fences, and the number of rows of each table."""
    found = Outline()
    fence = ""
    in_table = False
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence:
            found.code[-1] += line + "\n"
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = ""
            continue
        row = line.lstrip().startswith("|")
        if row and not in_table:
            found.table_rows.append(0)
        if row:
            found.table_rows[-1] += 1
        in_table = row
        if mark:
            fence = mark[1]
            found.code.append(line + "\n")
        elif heading := HEADING.match(line):
            found.headings.append(len(heading[1]))
    return found


def read_outline(name: str) -> Outline:
    """Return the outline of a file of the checkout; fails when there is none."""
    return outline((CHECKOUT / name).read_text(encoding="utf-8"))


def test_headings() -> None:
    assert read_outline("README.zh-CN.md").headings == read_outline("README.md").headings


def test_code_blocks() -> None:
    assert read_outline("README.zh-CN.md").code == read_outline("README.md").code


def test_tables() -> None:
    assert read_outline("README.zh-CN.md").table_rows == read_outline("README.md").table_rows


def test_outline_sees_what_it_compares() -> None:
    text = "# A\n\n```sh\n# no heading\n| no table\n```\n## B\n| a | b |\n|---|---|\n| 1 | 2 |\n\n| c |\n|---|\n"
    found = outline(text)
    assert found.headings == [1, 2]
    assert found.code == ["```sh\n# no heading\n| no table\n```\n"]
    assert found.table_rows == [3, 2]
