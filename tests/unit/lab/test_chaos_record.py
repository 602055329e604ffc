# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of what became of each fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.record import Outcome, table, with_table, write

KILLED = Outcome("rank 1 killed", "rank 1: exit code 137 | at once", 12.34, 5.0, 15.0)


def test_a_row_has_the_difference() -> None:
    assert table([KILLED]).splitlines() == [
        "| Fault | Noticed as | Generates again after | Engine's own start | Difference | Aim |",
        "| --- | --- | --- | --- | --- | --- |",
        "| rank 1 killed | rank 1: exit code 137 \\| at once | 12.3 s | 5.0 s | 7.3 s | < 15 s |",
    ]


def test_without_a_wait_there_are_no_times() -> None:
    assert table([Outcome("supervisor killed", "")]).splitlines()[-1] == ("| supervisor killed |  | - |  |  |  |")


def test_only_the_engines_own_part_of_the_page_changes() -> None:
    page = (
        "a\n<!-- chaos double -->\nold\n<!-- chaos double end -->\nb\n<!-- chaos other -->\n<!-- chaos other end -->\n"
    )
    assert with_table(page, "double", "new") == page.replace("old", "new")
    with pytest.raises(ValueError, match="chaos vllm-cpu"):
        with_table(page, "vllm-cpu", "new")


def test_files(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- chaos double -->\n<!-- chaos double end -->\n", encoding="utf-8")
    write("double", "Made today.", [KILLED], tmp_path / "results", page)
    assert "Made today.\n\n| Fault |" in page.read_text(encoding="utf-8")
    document = json.loads((tmp_path / "results" / "double.json").read_text(encoding="utf-8"))
    assert document["made"] == "Made today."
    assert document["outcomes"][0]["noticed"] == KILLED.noticed


def test_the_page_has_a_place_for_each_engine() -> None:
    text = Path(__file__).parents[3].joinpath("docs/reliability.md").read_text(encoding="utf-8")
    for engine in ("double", "vllm-cpu"):
        assert with_table(text, engine, "").count("<!-- chaos") == text.count("<!-- chaos")
