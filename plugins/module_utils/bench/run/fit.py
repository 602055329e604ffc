# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much filler text a prompt needs so that it has the tokens that are wanted. Pure.

Only the server knows its tokenizer, so its /tokenize is asked, a few times for each case. A tokenizer of another
model would be a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# A size is met when it is this near; the nonce alone moves a prompt by a token or two.
SHARE = 0.01
LEAST = 2
# Questions at most: the search halves what it cannot guess.
TRIES = 16


@dataclass(frozen=True)
class Fit:
    """A size of a prompt.

    :ivar words: words of filler; None when the prompt needs none or has no size
    :ivar tokens: what the server counts then; None when it was not asked or did not say
    :ivar head: tokens that the server puts before each prompt, which only a cold case asks for; None when not known
    """

    words: int | None
    tokens: int | None
    head: int | None = None


def fit(count: Callable[[int], int | None], wanted: int, guess: int) -> Fit | None:
    """Find the words of filler by which a prompt comes nearest to the tokens that are wanted.

    :param count: tokens of the prompt with so many words, which grow with them; None when the server does not say
    :param guess: words to begin with
    :returns: None when the server does not say
    """
    least = count(0)
    if least is None:
        return None
    low, best = Fit(0, least), Fit(0, least)
    high: Fit | None = None
    words = max(1, guess)
    for _try in range(TRIES):
        if _near(best, wanted) or least >= wanted:
            break
        tokens = count(words)
        if tokens is None:
            return None
        seen = Fit(words, tokens)
        best = min(best, seen, key=lambda one: _away(one, wanted))
        low, high = (seen, high) if tokens <= wanted else (low, seen)
        following = _between(low, high, wanted)
        if following in ((low.words or 0), high.words if high else None):
            break
        words = following
    return best


def _between(low: Fit, high: Fit | None, wanted: int) -> int:
    """The words to try next, on the line through what is known."""
    words, tokens = low.words or 0, low.tokens or 0
    if high is None:
        per_word = max(tokens / words, 0.05) if words else 1.0
        return words + max(1, round((wanted - tokens) / per_word))
    span, width = (high.tokens or 0) - tokens, (high.words or 0) - words
    step = round(width * (wanted - tokens) / span) if span > 0 else width // 2
    return words + min(max(step, 1), max(width - 1, 0))


def _away(one: Fit, wanted: int) -> int:
    return abs((one.tokens or 0) - wanted)


def _near(one: Fit, wanted: int) -> bool:
    return _away(one, wanted) <= max(LEAST, wanted * SHARE)
