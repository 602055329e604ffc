# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the words of a report mean."""

from __future__ import annotations

DEFINITIONS = (
    (
        "TTFT (ttft_ms)",
        (
            "Time to the first token: from the last byte of the request, written on a connection that is open, to "
            "the first event that holds text, reasoning or a tool call. An event with a role alone is no token."
        ),
    ),
    (
        "TTFO (ttfo_ms)",
        "The same without reasoning: how long one waits for the answer itself.",
    ),
    (
        "TTFR (ttfr_ms)",
        "The same to the first event of any kind.",
    ),
    (
        "TPOT (tpot_ms)",
        (
            "Time per output token after the first: (last token \u2212 first token) / (tokens \u2212 tokens of the "
            "first event). The first token's wait is not in it."
        ),
    ),
    (
        "ITL (itl_ms)",
        (
            "Gaps between two events that hold tokens, of all requests together. With more than one token in an "
            "event (speculative decoding) it is the gap between events, not tokens."
        ),
    ),
    (
        "E2EL (e2el_ms)",
        "From the written request to its last token.",
    ),
    (
        "tok/s per user (decode_tps)",
        "1000 / TPOT: how fast one user sees text grow.",
    ),
    (
        "tok/s all (output_tps)",
        (
            "All tokens of successful requests / (last token \u2212 first request written), so that waiting counts. "
            "The steady figure is of the time in which at least 95 % of the users had a request under way."
        ),
    ),
    (
        "prefill tok/s (prefill_tps)",
        "Prompt tokens that no cache held / TTFT, with one user and new prompts.",
    ),
    (
        "tokens",
        (
            "As the server counts them in its usage, else as its tokenizer counts them, else not known; events "
            "are never counted as tokens."
        ),
    ),
    (
        "failed",
        "Requests that ended in one of 16 kinds of error. Their times are in no figure but this one.",
    ),
    (
        "cache hits (cache_hit_rate)",
        (
            "Share of prompt tokens that the server found in its prefix cache, by its own counters. In a cold case the "
            "head that the chat template puts before each prompt is left out, where the server tells its tokens."
        ),
    ),
    (
        "goodput",
        "Rate of requests that kept every limit given for TTFT, TPOT and E2EL.",
    ),
    (
        "round, median, 95 % CI",
        (
            "A round is one pass of a case under one load. The first one warms up and is dropped. Medians and "
            "confidence intervals are over rounds, as the tokens of one round depend on each other."
        ),
    ),
    (
        "percentiles",
        (
            "Given only where five requests or more lie beyond them: p90 from 50 requests on, p95 from 100, p99 "
            "from 500."
        ),
    ),
    (
        "valid",
        (
            "A point is not valid when the client was too slow to measure it truly, when a cold case met a warm "
            "cache or when an open load was sent late. It stays in the tables, marked, and is in no picture."
        ),
    ),
    (
        "verdict",
        (
            "regression and improvement: the interval of the ratio leaves out 1 and the ratio is beyond the "
            "margin. no change: the whole interval is within the margin. inconclusive: neither; more rounds would "
            "tell."
        ),
    ),
)
