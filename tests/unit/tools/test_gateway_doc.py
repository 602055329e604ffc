# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/gateway.md says of each provider what the code says."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.features import CANNOT, FEATURES
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.options import OPTIONS
from tools import gateway_doc
from tools.marks import between_marks

CHECKOUT = Path(__file__).resolve().parents[3]


def test_the_tables_are_up_to_date() -> None:
    written = (CHECKOUT / gateway_doc.PAGE).read_text("utf-8")
    assert written == between_marks(gateway_doc.PAGE, written, gateway_doc.tables()), "run: make docs"


def test_each_feature_has_a_row_and_each_lack_a_reason() -> None:
    found = {name: text.splitlines()[2:] for name, text in gateway_doc.tables().items()}
    assert len(found["features"]) == len(FEATURES)
    assert "".join(found["features"]).count(" no ") == len(found["reasons"]) == sum(map(len, CANNOT.values()))


def test_the_page_speaks_of_each_variable() -> None:
    text = (CHECKOUT / gateway_doc.PAGE).read_text("utf-8")
    assert [option.name for option in OPTIONS if f"`{option.name}" not in text] == []
