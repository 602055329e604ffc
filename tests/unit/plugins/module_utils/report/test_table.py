# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables, and times in their cells."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import span, table


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    assert table(("name", "n"), [("模型", "1"), ("model", "22")]) == [
        "name   n",
        "-----  --",
        "模型   1",
        "model  22",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "-"), (0, "0s"), (61, "1m01s"), (3700, "1h01m"), (200000, "2d07h")]
)
def test_a_span_has_its_two_greatest_units(seconds: int | None, text: str) -> None:
    assert span(seconds) == text
