# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/gateway.md: what each provider can do, and why it cannot do the rest.

`make docs` writes them between the page's marks; a unit test holds the page against what this gives.
"""

from __future__ import annotations

from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.features import CANNOT, FEATURES, can
from tools.marks import between_marks, table

PAGE = Path("docs/gateway.md")


def tables() -> dict[str, str]:
    """The tables, by the names of their marks."""
    features = [
        (_cell(words), *["yes" if can(provider, name) else "no" for provider in CANNOT])
        for name, words in FEATURES.items()
    ]
    reasons = [
        (f"`{provider}`", _cell(FEATURES[name]), _cell(reason))
        for provider, missing in CANNOT.items()
        for name, reason in missing.items()
    ]
    return {
        "features": table(" | ".join(("Feature", *[f"`{provider}`" for provider in CANNOT])), features),
        "reasons": table("Provider | Cannot | Why", reasons),
    }


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(between_marks(PAGE, PAGE.read_text("utf-8"), tables()), "utf-8")
