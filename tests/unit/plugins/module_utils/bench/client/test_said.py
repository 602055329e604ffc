# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of servers, short and without keys."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.failures import (
    WORDS,
    first_words,
    hidden,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.said import Said

KEY = "0123456789abcdef0123456789abcdef"


def test_a_text_in_one_line_and_short() -> None:
    assert first_words("one\n  two") == "one two"
    assert first_words("x" * 500) == "x" * (WORDS - 1) + "\u2026"


@pytest.mark.parametrize("before", [WORDS - len(KEY) // 2, 8 * WORDS - len(KEY) // 2])
@pytest.mark.parametrize("filler", [".", " "])
def test_a_key_is_taken_out_before_words_are_cut(before: int, filler: str) -> None:
    words = first_words(filler * before + KEY, KEY)
    assert KEY[:4] not in words
    assert len(words) <= WORDS


def test_a_key_as_json_writes_it_is_hidden() -> None:
    assert hidden('say "a\\"b\\\\c" or a"b\\c', 'a"b\\c') == 'say "***" or ***'
    assert hidden("anything", "") == "anything"


@pytest.mark.parametrize(
    ("error", "words", "code"),
    [
        ({"message": "died", "code": 500}, "died (500)", 500),
        ({"message": "died", "status": "503"}, "died (503)", 503),
        ({"error": {"message": "died"}}, "died", None),
        ({"type": "x"}, '{"type": "x"}', None),
        ("died", "died", None),
        ({"message": "died", "code": "no_number"}, "died (no_number)", None),
    ],
)
def test_errors(error: Any, words: str, code: int | None) -> None:
    assert Said().error(error) == (words, code)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "(empty)"),
        (b"Not\r\nFound", "Not Found"),
        (b'{"error": {"message": "died"}}', "died"),
        (b'{"error": "no key 0123456789abcdef0123456789abcdef"}', "no key ***"),
        (b'{"detail": "0123456789abcdef0123456789abcdef"}', '{"detail": "***"}'),
        (b'{"error": {"message": "\\u0030123456789abcdef0123456789abcdef"}}', "***"),
        (b"\xff", "\ufffd"),
    ],
)
def test_bodies(body: bytes, words: str) -> None:
    assert Said(KEY).body(body) == words


def test_the_begin_of_an_answer_keeps_its_lines() -> None:
    assert Said(KEY).begin(f"one\n two {KEY} " + "x" * 500) == ("one\n two *** " + "x" * 500)[:WORDS]
