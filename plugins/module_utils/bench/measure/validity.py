# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a point is not to be believed, and what its figures are to be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Where the head that a chat template puts before each prompt is not known, a short one is within this.
MOST_CACHED = 0.01
MOST_DISPATCH_LAG_MS = 10.0
# Above this many tokens a chunk, the gap between chunks is not the gap between tokens.
MOST_TOKENS_PER_CHUNK = 1.05
# A stream of which more gaps than this share are below a millisecond was held back and handed on in bursts.
BUFFERED = 0.5

INTER_TOKEN = "inter-token"
INTER_CHUNK = "inter-chunk"


def reasons(
    summary: Mapping[str, Any], case: Mapping[str, Any] | None, measured_rounds: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Sentences that say why a point is invalid; none when it is valid.

    :param summary: of all its measured rounds together
    :param case: None when the order does not have it
    :param measured_rounds: without warm-ups and without those that were skipped
    """
    found = [*_of_rounds(measured_rounds), *_of_load(summary)]
    if case is not None:
        found += _of_cache(summary, case, measured_rounds)
    if summary["error_rate"]["value"] == 1:
        found.append("No request succeeded.")
    return found


def _of_rounds(rounds: Sequence[Mapping[str, Any]]) -> list[str]:
    said: dict[str, list[str]] = {}
    for one in rounds:
        if not one.get("valid", True):
            for sentence in one.get("invalid_reasons") or ["It is marked as invalid, without a reason."]:
                said.setdefault(sentence, []).append(str(one["round"]))
    return [f"Round {', '.join(numbers)}: {ended(why)}" for why, numbers in said.items()]


def ended(words: str) -> str:
    """With a full stop, where more may follow."""
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _of_load(summary: Mapping[str, Any]) -> list[str]:
    lag = summary["dispatch_lag_p99_ms"]["value"]
    if lag is None or lag <= MOST_DISPATCH_LAG_MS:
        return []
    late = f"1 in 100 requests was sent {lag:.1f} ms late or more (at most {MOST_DISPATCH_LAG_MS:.0f} ms)"
    return [f"{late}, so the load was not the one that was ordered."]


def most_cached(case: Any) -> float | None:
    """The share of a case's prompts that may come from the prefix cache; None when any share may.

    The turns of a conversation repeat what was said before, cold as it may have begun.
    """
    if not isinstance(case, Mapping) or case.get("cache") != "cold":
        return None
    stated, talks = case.get("max_share_cached"), case.get("conversations")
    if isinstance(stated, (int, float)):
        return stated
    is_talk = isinstance(talks, list) and any(isinstance(turns, list) and len(turns) > 1 for turns in talks)
    return None if is_talk else MOST_CACHED


def _of_cache(summary: Mapping[str, Any], case: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]) -> list[str]:
    """A cold case whose prompts the engine had seen measures the cache (benchmark.md, fault 9)."""
    rate, most = summary["cache_hit_rate"]["value"], most_cached(case)
    if rate is None or most is None or rate <= most:
        return []
    heads = [(one.get("server") or {}).get("head_tokens") or 0 for one in rounds]
    behind = f" behind the {max(heads)} tokens that the chat template puts before each" if any(heads) else ""
    cached = f"{rate:.1%} of the prompts{behind} came from the prefix cache (at most {most:.1%} in a cold case)"
    return [f"{cached}, so the first tokens came sooner than they do for a new prompt."]


def itl_name(summary: Mapping[str, Any]) -> str:
    """What the gaps are gaps between."""
    mean = summary["tokens_per_chunk"]["mean"]
    return INTER_CHUNK if mean is not None and mean > MOST_TOKENS_PER_CHUNK else INTER_TOKEN


def streaming(summary: Mapping[str, Any], via: str) -> str | None:
    """``buffered`` when a gateway hands the stream on in bursts, ``as it comes`` when not, None when not known."""
    share = summary["merged_share"]["value"]
    if share is None:
        return None
    return "buffered" if via == "gateway" and share > BUFFERED else "as it comes"
