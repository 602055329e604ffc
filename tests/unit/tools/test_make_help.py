# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make` alone lists the targets."""

from __future__ import annotations

import re
from pathlib import Path

from tools.make_help import documented_targets, help_text

MAKEFILE = Path(__file__).resolve().parents[3] / "Makefile"


def test_targets_are_read() -> None:
    text = "VAR := a ## no\nall: b ## Do it\nb:\n\tcmd ## no\nc-d: ## Other: thing\n.PHONY: all ## no\n"
    assert documented_targets(text) == [("all", "Do it"), ("c-d", "Other: thing")]
    assert help_text(text) == "  make all  Do it\n  make c-d  Other: thing"


def test_every_target_of_the_makefile_is_documented() -> None:
    text = MAKEFILE.read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    rules = set(re.findall(r"^([a-z][a-z-]*):(?!=)", text, re.MULTILINE))
    assert {name for name, _text in documented_targets(text)} == rules == set(phony.split())
