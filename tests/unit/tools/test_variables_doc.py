# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of variables is the one that the code gives."""

from __future__ import annotations

from pathlib import Path

from tools import variables_doc

CHECKOUT = Path(__file__).parents[3]


def test_the_page_is_in_step() -> None:
    written = (CHECKOUT / variables_doc.PAGE).read_text("utf-8")
    assert written == variables_doc.page(CHECKOUT / "roles"), "run: make docs"


def test_every_variable_has_a_row() -> None:
    page = variables_doc.page(CHECKOUT / "roles")
    for name in ("serving_model", "fabric_links", "replica_ready_timeout", "model_cache_dir", "image_architecture"):
        assert f"| `{name}` |" in page
