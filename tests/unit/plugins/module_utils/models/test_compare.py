# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files held against a manifest."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models.compare import Difference, compare, some

A, B = "a" * 64, "b" * 64
WANTED = {"entries": [{"path": "file", "size": 1, "sha256": A}, {"path": "link", "link": "file"}]}
FILE, LINK = {"path": "file", "size": 1}, {"path": "link", "link": "file"}


@pytest.mark.parametrize(
    ("entries", "hashes", "expected"),
    [
        ([LINK, FILE], {}, Difference()),
        ([LINK, FILE], {"file": A}, Difference()),
        ([LINK, FILE], {"file": B}, Difference(wrong_content=["file"])),
        ([LINK, {**FILE, "size": 2}], {"file": B}, Difference(wrong_size=["file"])),
        ([{**LINK, "link": "x"}, FILE], {}, Difference(wrong_link=["link"])),
        ([{"path": "link", "size": 1}, FILE], {}, Difference(wrong_link=["link"])),
        ([LINK, {"path": "file", "link": "x"}], {}, Difference(wrong_link=["file"])),
        ([], {}, Difference(missing=["file", "link"])),
        ([LINK, FILE, {"path": "a", "size": 1}], {"a": A}, Difference(extra=["a"])),
    ],
)
def test_compare(entries: list[dict[str, Any]], hashes: dict[str, str], expected: Difference) -> None:
    assert compare(WANTED, entries, hashes) == expected


def test_what_is_wrong_in_words() -> None:
    found = Difference(["d", "e", "f", "g"], ["b"], ["c"], ["a"], ["x"])
    assert found.wrong == ["a", "b", "c"]
    assert found.sentences() == [
        "4 not there: d, e, f and 1 more",
        "1 of another size: b",
        "1 no such link: c",
        "1 of other content (SHA-256): a",
    ]
    assert some(["a", "b", "c"]) == "a, b, c"
