# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the filler of a prompt is found by which it has the tokens that are wanted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.fit import TRIES, Fit, fit


class Count:
    """Counts the questions."""

    def __init__(self, tokens: Callable[[int], int | None]) -> None:
        self.tokens, self.asked = tokens, 0

    def __call__(self, words: int) -> int | None:
        self.asked += 1
        return self.tokens(words)


@pytest.mark.parametrize(
    ("tokens", "wanted", "guess"),
    [
        (lambda words: 30 + round(1.3 * words), 1024, 700),
        (lambda words: 30 + round(1.3 * words), 1024, 1),
        (lambda words: 30 + round(1.3 * words), 128, 5000),
        (lambda words: 20 + round(0.6 * words), 32768, 25000),
        (lambda words: 12 + words + words // 50 * 7, 4096, 3000),
        (lambda words: 40 + round(3.2 * words**0.98), 16384, 4000),
        (lambda words: 5 + 9 * (words // 4), 2000, 10),
    ],
)
def test_it_comes_within_a_hundredth_in_few_questions(tokens: Callable[[int], int], wanted: int, guess: int) -> None:
    count = Count(tokens)
    found = fit(count, wanted, guess)
    assert found is not None
    assert found.tokens == tokens(found.words or 0)
    assert abs(found.tokens - wanted) <= max(2, wanted * 0.01) + 4
    assert count.asked <= TRIES + 1


def test_a_prompt_that_is_too_long_gets_no_filler() -> None:
    assert fit(lambda words: 200 + words, 128, 90) == Fit(0, 200)


def test_a_server_that_does_not_count_is_not_guessed_for() -> None:
    assert fit(lambda words: None, 128, 90) is None
    assert fit(lambda words: 30 if words == 0 else None, 128, 90) is None


def test_a_count_that_does_not_grow_ends() -> None:
    count = Count(lambda words: 30)
    assert fit(count, 128, 90) == Fit(0, 30)
    assert count.asked <= TRIES + 1
