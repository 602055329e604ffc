# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of what events did to requests through the gateway."""

from __future__ import annotations

import json
from pathlib import Path

from tests.lab.gateway_record import table, write
from tests.lab.load import Counts

OUTCOMES = {"engine killed": Counts(512, 0, 4, 0.25), "drain and undrain": Counts(900, 0, 0, 0.0)}
TABLE = """\
| Event | Requests | Failed | Running streams lost | Until none fails |
| --- | --- | --- | --- | --- |
| engine killed | 512 | 0 | 4 | 0.2 s |
| drain and undrain | 900 | 0 | 0 | 0 |"""


def test_table() -> None:
    assert table(OUTCOMES) == TABLE


def test_files(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- chaos gateway -->\nold\n<!-- chaos gateway end -->\nafter\n", encoding="utf-8")
    write("today.", OUTCOMES, tmp_path, page)
    text = page.read_text(encoding="utf-8")
    assert text == f"before\n<!-- chaos gateway -->\ntoday.\n\n{TABLE}\n<!-- chaos gateway end -->\nafter\n"
    document = json.loads((tmp_path / "events.json").read_text(encoding="utf-8"))
    assert document["events"]["engine killed"] == {
        "asked": 512,
        "failed": 0,
        "streams_lost": 4,
        "until_none_fails": 0.25,
    }
