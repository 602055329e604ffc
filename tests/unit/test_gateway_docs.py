# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/troubleshooting.md explains each answer that the gateway gives by itself, and so does its Chinese twin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import paths

DOCS = Path(__file__).resolve().parents[2] / "docs"
NAMES = ["NAME"]
# What depends on the configuration stands in the page as N or as dots.
SHOWN = (
    (paths.too_large(10), ("10 bytes", "N bytes")),
    (paths.no_length(10 << 10), ("10 kB", "N kB")),
    (paths.no_model(1 << 20, NAMES), ("Models: NAME.", "Models: ...")),
    (paths.unknown_model(NAMES), ("Models: NAME.", "Models: ...")),
)


def messages() -> list[str]:
    """The gateway's messages, as the pages write them."""
    constants = [value for name, value in vars(paths).items() if name.isupper() and str(value).startswith('{"error"')]
    found = [json.loads(body)["error"]["message"] for body in [*constants, *paths.OWN_ERRORS.values()]]
    return found + [json.loads(body)["error"]["message"].replace(*change) for body, change in SHOWN]


@pytest.mark.parametrize("page", ["troubleshooting.md", "troubleshooting.zh-CN.md"])
def test_each_answer_of_the_gateway_is_explained(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    assert [message for message in messages() if message not in text] == []


def test_all_answers_are_looked_for() -> None:
    assert len(messages()) >= len(paths.OWN_ERRORS) + len(SHOWN) + 4
