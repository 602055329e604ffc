# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/troubleshooting.md explains every check of the preflight, and its Chinese twin has the same parts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import IDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
TWINS = ("troubleshooting.md", "troubleshooting.zh-CN.md")


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def parts(text: str) -> dict[str, str]:
    """The text under each heading of a check."""
    found = re.split(r"^#{2,3} (.*)$", text, flags=re.MULTILINE)[1:]
    return {head: body for head, body in zip(found[::2], found[1::2], strict=True) if re.fullmatch(r"\w+\.\w+", head)}


@pytest.mark.parametrize("name", TWINS)
def test_each_check_is_a_heading_in_its_order_and_no_other_is(name: str) -> None:
    assert tuple(parts(read(name))) == IDS


@pytest.mark.parametrize(("name", "word"), list(zip(TWINS, ("ignor", "忽略"), strict=True)))
def test_each_check_says_when_to_ignore_it(name: str, word: str) -> None:
    silent = [check for check, body in parts(read(name)).items() if word not in body.lower()]
    assert silent == []


def test_the_twins_have_the_same_parts() -> None:
    def shape(text: str) -> tuple[list[str], list[str], int]:
        messages = [line for line in text.splitlines() if line.startswith("## ")]
        # A message is the same in both; only the page's own words are translated.
        names = [line for line in messages if line.isascii() and line != "## Preflight"]
        return (
            names,
            re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL),
            len(re.findall(r"^\|", text, re.MULTILINE)),
        )

    one, other = (shape(read(name)) for name in TWINS)
    assert one == other


def test_both_name_the_same_variables_and_playbooks() -> None:
    for check in IDS:
        one, other = (set(re.findall(r"`([a-z_]+_[a-z_]+|[a-z-]+\.yml)\b", parts(read(name))[check])) for name in TWINS)
        assert one == other, check
