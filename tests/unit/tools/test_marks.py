# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables between the marks of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.marks import between_marks, table

PAGE = Path("docs/page.md")


def test_only_what_is_between_the_marks_changes() -> None:
    text = "a\n<!-- one -->\nold\n<!-- one end -->\nb\n<!-- two -->\nkept\n<!-- two end -->\n"
    assert between_marks(PAGE, text, {"one": "new\n"}) == text.replace("old", "new")


@pytest.mark.parametrize("text", ["", "<!-- one -->\n", "<!-- one end -->\n"])
def test_a_page_without_marks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"docs/page\.md has no marks for one"):
        between_marks(PAGE, text, {"one": ""})


def test_a_table() -> None:
    assert table("A | B", [("1", "2")]) == "| A | B |\n| --- | --- |\n| 1 | 2 |\n"
