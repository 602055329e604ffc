# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When an answer without usage is shorter than it had to be."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.short import short_words


@pytest.mark.parametrize(
    ("counted", "wanted", "finish", "short"),
    [
        (2, 64, "stop", True),
        (None, 64, "stop", True),
        (60, 64, "stop", True),
        (61, 64, "stop", False),  # joins of the text
        (7, 8, "stop", False),
        (64, 64, "stop", False),
        (70, 64, "stop", False),
        (None, 64, "length", False),
        (None, 64, None, False),
        (40, 64, "length", False),  # special tokens have no text
        (31, 64, "length", True),
        (31, 64, None, True),
        (32, 64, None, False),
        (2, None, "stop", False),
        (None, None, "stop", False),
    ],
)
def test_b06_short_output(counted: int | None, wanted: int | None, finish: str | None, short: bool) -> None:
    assert bool(short_words(counted, wanted, finish)) is short


def test_the_words() -> None:
    assert short_words(2, 64, "stop") == "2 tokens by /tokenize where exactly 64 were asked for"
    assert short_words(None, 64, "stop") == (
        "it ended by itself where exactly 64 tokens were asked for, and the server tells no count"
    )
