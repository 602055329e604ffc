# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the words of a report mean."""

from __future__ import annotations

DEFINITIONS = (
    (
        "load, N",
        (
            "4: so many users at once, each of whom asks again when the answer has ended (closed loop). 2.50/s: "
            "requests that come at random at this rate, whatever is under way (open load). 1 in series: one request "
            "after the other. (ladder): a step of the search for the knee, beyond which more users bring hardly more "
            "tok/s or wait longer than the TTFT of goodput; other words in brackets name a part of the suite."
        ),
    ),
    (
        "succeeded",
        (
            "Requests of all measured rounds that ended as they should, with as many tokens as were asked for. All "
            "other figures of a point are of these; those that failed have a column of their own."
        ),
    ),
    (
        "TTFT (ttft_ms)",
        (
            "Time to the first token: from the last byte of the request, written on a connection that is open, to "
            "the first event that holds text, reasoning or a tool call; in an open load from the time it was due. An "
            "event with a role alone is no token."
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
        "stalls (stall_share)",
        "Share of the gaps that are longer than five times their median: answers that stood still for a while.",
    ),
    (
        "merged_share",
        (
            "Share of the gaps below 1 ms, in which no engine makes a token: the stream was held back and let go in "
            "bursts."
        ),
    ),
    (
        "tokens per event (tokens_per_chunk)",
        "Tokens of an answer / its events that hold any; more than 1 with speculative decoding.",
    ),
    (
        "close_ms",
        "From the last token to the end of the answer, which is in no other time.",
    ),
    (
        "connect_ms",
        (
            "How long the connection (and TLS) took that a request went over: it is in no other time, as the clock "
            "starts on an open one."
        ),
    ),
    (
        "E2EL (e2el_ms)",
        "From the written request to its last token; in an open load from the time it was due.",
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
        "total_tps",
        "As tok/s all, with the tokens of the prompts.",
    ),
    (
        "requests/s (request_rate)",
        "Requests that succeeded / the same time.",
    ),
    (
        "prefill tok/s (prefill_tps)",
        "Prompt tokens that no cache held / TTFT, with one user and new prompts.",
    ),
    (
        "tokens in, tokens out (prompt_tokens, completion_tokens)",
        (
            "As the server counts them in its usage, else as its tokenizer counts them, else not known; events are "
            "never counted as tokens."
        ),
    ),
    (
        "failed (error_rate)",
        "Requests that ended in one of 16 kinds of error. Their times are in no figure but this one.",
    ),
    (
        "cache hits (cache_hit_rate)",
        (
            "Share of prompt tokens that the server found in its prefix cache, by its own counters. In a cold case "
            "the head that the chat template puts before each prompt is left out, where the server tells its tokens."
        ),
    ),
    (
        "preempted (server_preemptions), server_generation_tokens",
        (
            "How often the engine put a request back for want of KV cache; it computes it again later. And the "
            "tokens it made in the measured rounds, those for others, too. By its own counters."
        ),
    ),
    (
        "drafts accepted",
        "Share of the tokens of speculative decoding that the engine took, by its own counters.",
    ),
    (
        "client lag (client_lag_ms)",
        (
            "How late the client's own stamps were at most, p99 of its worst round, by the lag of its loop and its "
            "waits for a processor. Beyond 2 ms, or 5 % of the median gap between tokens, a round is not valid."
        ),
    ),
    (
        "dispatch_lag_p99_ms",
        "How late the requests of an open load were sent, against when they were due.",
    ),
    (
        "goodput (goodput_rate, goodput_share)",
        (
            "Rate of the requests that kept every limit given for TTFT, TPOT and E2EL, and their share of all that "
            "were sent. Without limits there is none."
        ),
    ),
    (
        "at once (concurrency)",
        (
            "Requests under way: the mean over the time of the rounds, and the peak. Far below the users that were "
            "ordered, another load was measured."
        ),
    ),
    (
        "engine's TTFT (server_ttft_ms), client \u2212 engine (client_minus_server_ttft_ms)",
        (
            "The engine's own mean of the rounds, from the arrival of a request to its first token, by its /metrics; "
            "and the client's mean less that: network, TLS and gateway. Not known where others used the engine "
            "meanwhile."
        ),
    ),
    (
        "queue (server_queue_ms)",
        "How long a request waited in the engine before its prompt was begun, in the mean, by the engine's /metrics.",
    ),
    (
        "KV cache at most (server_kv_usage), server_waiting",
        (
            "The fullest that the KV cache was seen in the warm-up, and the most requests that waited; measured "
            "rounds are not disturbed by such looks."
        ),
    ),
    (
        "client CPU (client_cpu_s_per_1000_tokens), client_rss_mb",
        "Seconds of a core that the client took for 1,000 tokens of its successful requests; the most memory it held.",
    ),
    (
        "round, median, 95 % CI",
        (
            "A round is one pass of a case under one load. The first one warms up and is dropped. Medians and "
            "confidence intervals are over rounds, as the tokens of one round depend on each other."
        ),
    ),
    (
        "spread of rounds (cv)",
        "Standard deviation of the rounds' tok/s / their mean.",
    ),
    (
        "percentiles",
        "Given only where five requests or more lie beyond them: p90 from 50 requests on, p95 from 100, p99 from 500.",
    ),
    (
        "valid",
        (
            "A point is not valid when the client was too slow to measure it truly, when a cold case met a warm "
            "cache, when an open load was sent late or when no request succeeded. It stays in the tables, marked, "
            "and is in no picture."
        ),
    ),
    (
        "verdict",
        (
            "regression and improvement: the interval of the ratio leaves out 1, the ratio is beyond the margin, and "
            "among so many comparisons of the metric that is more than chance (Holm). no change: the whole interval "
            "is within the margin. inconclusive: neither; more rounds would tell. Points of the baseline that were "
            "asked for and not measured are inconclusive, too. A share of failed requests that is at least one "
            "request more is a regression. Pairs, in which neither side was there first, say worse, better and no "
            "difference of the first one."
        ),
    ),
    (
        "before, now",
        "Of a comparison: geometric means of the rounds, so that they differ a little from the medians in the tables.",
    ),
)
