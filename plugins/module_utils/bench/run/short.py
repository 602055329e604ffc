# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an answer is shorter than was asked for, where its server tells no usage (fault 6 of benchmark.md). Pure."""

from __future__ import annotations

# The finish_reason of an answer that ended by itself, which one of forced length never does.
BY_ITSELF = "stop"
# Tokens that were made one by one can be fewer when their text is cut into tokens anew: at joins, by some percent.
JOINS_SHARE, JOINS_LEAST = 0.05, 2
# Beyond joins, special tokens have no text, and models that may not end make some of them. Where the server does not
# say that the answer ended by itself, only a count that these cannot explain shows a short answer.
SURELY_SHORT = 0.5


def short_words(counted: int | None, wanted: int | None, finish: str | None) -> str:
    """What shows that an answer is shorter than it had to be; empty when nothing does.

    :param counted: tokens of its text; None when nobody counts
    :param wanted: tokens that the server had to make; None where it may end by itself
    :param finish: its finish_reason
    """
    if wanted is None:
        return ""
    if counted is None:
        words = f"it ended by itself where exactly {wanted} tokens were asked for, and the server tells no count"
        return words if finish == BY_ITSELF else ""
    least = wanted - max(JOINS_LEAST, wanted * JOINS_SHARE) if finish == BY_ITSELF else wanted * SURELY_SHORT
    return f"{counted} tokens by /tokenize where exactly {wanted} were asked for" if counted < least else ""
