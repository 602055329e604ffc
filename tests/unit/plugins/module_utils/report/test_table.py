# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    assert table(("name", "n"), [("模型", "1"), ("model", "22")]) == [
        "name   n",
        "-----  --",
        "模型   1",
        "model  22",
    ]
