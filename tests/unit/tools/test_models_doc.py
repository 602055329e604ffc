# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/models.md has the figures that the code computes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tools import models_doc

CHECKOUT = Path(__file__).resolve().parents[3]


def test_the_tables_are_up_to_date() -> None:
    written = (CHECKOUT / models_doc.PAGE).read_text("utf-8")
    assert written == models_doc.page(written, models_doc.tables(CHECKOUT)), "run: make docs"


def test_every_recipe_and_its_model_is_there() -> None:
    found = models_doc.tables(CHECKOUT)
    for path in CHECKOUT.glob("recipes/*.yaml"):
        model = yaml.safe_load(path.read_text("utf-8"))["model"]
        assert (f"| `{path.stem}` |" in found["recipes"]) == (not model.startswith("/"))
        assert all((f"| `{model}` |" in found[name]) == (not model.startswith("/")) for name in ("models", "fits"))


def test_every_recipe_fits() -> None:
    for row in models_doc.tables(CHECKOUT)["recipes"].splitlines()[2:]:
        needs, _of, share, _unit = row.split("|")[4].split()
        assert float(needs) <= float(share), row


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no marks for fits"):
        models_doc.page("<!-- fits -->\n", {"fits": "| |\n"})
