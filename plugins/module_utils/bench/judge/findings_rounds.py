# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What engines, gateways and the client itself did to the figures of rounds. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from statistics import median
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import (
    ERROR,
    WARNING,
    Finding,
    finding,
    note,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.watched import (
    entries,
    figures,
    keyed,
    measured,
    number,
    text,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.validity import (
    BUFFERED,
    ended,
    most_cached,
)

# A direct stream with so much less of it shows that the gateway makes the bursts.
DIRECT_LESS = 0.2
# So much of what an engine makes may be for others: who supervises it asks for a few tokens now and then.
FOREIGN_SHARE, FOREIGN_TOKENS = 0.02, 64
# So many reasons are named; more say the same in other figures.
MOST_REASONS = 3
DRAFTED, ACCEPTED = ("server", "spec_drafted"), ("server", "spec_accepted")


def of_rounds(order: Any, rounds: Sequence[Any]) -> list[Finding]:
    """Findings of the rounds that count."""
    counted = measured(rounds)
    return [
        *_errors(counted),
        *_invalid(counted),
        *_cold(order, counted),
        *_foreign(counted),
        *_preempted(counted),
        *_buffers(order, counted),
        *_speculation(counted),
    ]


def _grouped(rounds: Iterable[Any], key: Callable[[Any], Hashable]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for one in rounds:
        found.setdefault(key(one), []).append(one)
    return found


def _target(one: Any) -> str:
    return text(one, "target") or "a target without a name"


def _errors(rounds: Sequence[Any]) -> list[Finding]:
    found = []
    for target, played in _grouped(rounds, _target).items():
        rates = figures(played, "summary", "error_rate", "value")
        hopeless = bool(rates) and min(rates) >= 1
        for kind in sorted({kind for one in played for kind in keyed(one, "errors")}):
            count = sum(figures(played, "errors", kind))
            if count <= 0:
                continue
            message = _message(played, kind)
            severity = ERROR if hopeless else WARNING
            said = f" ({message})" if message else ""
            remedy = "Take no figure of it for one of a working server." if hopeless else "See the section on failures."
            found.append(finding("errors", severity, target, f"{_counted(count)}: {kind}{said}", "none", remedy))
    return found


def _counted(count: float) -> str:
    return f"{count:.0f} failed request" + ("" if count == 1 else "s")


def _message(rounds: Sequence[Any], kind: str) -> str:
    """The first message of this kind, on one line."""
    for one in rounds:
        for sample in entries(one, "error_samples"):
            if text(sample, "kind") == kind and text(sample, "message"):
                return " ".join(text(sample, "message").split())[:200]
    return ""


def _invalid(rounds: Sequence[Any]) -> list[Finding]:
    found = []
    for target, played in _grouped(rounds, _target).items():
        bad = [one for one in played if one.get("valid") is False]
        if not bad:
            continue
        reasons = list(
            dict.fromkeys(one for round_ in bad for one in entries(round_, "invalid_reasons") if isinstance(one, str))
        )
        why = " ".join(map(_sentence, reasons[:MOST_REASONS])) or "They do not say why."
        more = f" And {len(reasons) - MOST_REASONS} more reasons." if len(reasons) > MOST_REASONS else ""
        found.append(
            {
                "code": "rounds_invalid",
                "severity": WARNING,
                "text": f"{target}: found {len(bad)} of {len(played)} rounds invalid, wanted none. {why}{more}",
            }
        )
    return found


def _sentence(words: str) -> str:
    return ended(words[:1].upper() + words[1:])


def _cold(order: Any, rounds: Sequence[Any]) -> list[Finding]:
    cases = {text(case, "name"): case for case in entries(order, "cases")}
    found = []
    for (name, target), played in _grouped(rounds, lambda one: (text(one, "case"), _target(one))).items():
        rates, most = figures(played, "summary", "cache_hit_rate", "value"), most_cached(cases.get(name))
        if most is not None and rates and max(rates) > most:
            head = max(figures(played, "server", "head_tokens"), default=0)
            behind = f" (without the {head:.0f} of the chat template)" if head else ""
            found.append(
                finding(
                    "cold_case_cached",
                    ERROR,
                    f"{name} at {target}",
                    f"up to {100 * max(rates):.1f} % of a round's prompt tokens{behind} in the prefix cache",
                    f"{100 * most:g} % at most in a cold case",
                    "Let nobody else use the server meanwhile, and measure again: this TTFT is that of a cache.",
                )
            )
    return found


def _foreign(rounds: Sequence[Any]) -> list[Finding]:
    """Somebody else at the engines, another benchmark for example."""
    found = []
    for target, played in _grouped(rounds, _target).items():
        known = [
            (foreign, made)
            for one in played
            if (foreign := number(one, "server", "foreign_tokens")) is not None
            and (made := number(one, "server", "generation_tokens")) is not None
        ]
        shared = [foreign for foreign, made in known if foreign > max(FOREIGN_TOKENS, FOREIGN_SHARE * made)]
        if shared:
            found.append(
                finding(
                    "foreign_load",
                    WARNING,
                    target,
                    f"up to {max(shared):.0f} tokens made for somebody else in {len(shared)} of {len(known)} rounds",
                    "an engine that works for this benchmark alone",
                    "Keep users and other benchmarks away meanwhile, and measure again: these figures are too low.",
                )
            )
    return found


def _preempted(rounds: Sequence[Any]) -> list[Finding]:
    found = []
    for target, played in _grouped(rounds, _target).items():
        count = sum(figures(played, "server", "preemptions"))
        if count > 0:
            full = figures(played, "server", "kv_usage_max")
            cache = f" with its KV cache up to {100 * max(full):.0f} % full" if full else ""
            found.append(
                finding(
                    "preemptions",
                    WARNING,
                    target,
                    f"{count:.0f} requests put back by the engine{cache}",
                    "none",
                    "Lower max_num_seqs or give the KV cache more memory: what is put back is computed twice.",
                )
            )
    return found


def _buffers(order: Any, rounds: Sequence[Any]) -> list[Finding]:
    """Gateways that hold a stream back and let it go in bursts."""
    via = {text(target, "name"): text(target, "via") for target in entries(order, "targets")}
    shares = {
        target: median(values)
        for target, played in _grouped(rounds, _target).items()
        if (values := figures(played, "summary", "merged_share", "value"))
    }
    direct = [share for target, share in shares.items() if via.get(target) == "direct"]
    found = []
    for target, share in shares.items():
        if via.get(target) != "gateway" or share <= BUFFERED or (direct and share - min(direct) < DIRECT_LESS):
            continue
        beside = f", {100 * min(direct):.0f} % without it" if direct else ""
        found.append(
            finding(
                "gateway_buffers",
                WARNING,
                target,
                f"{100 * share:.0f} % of the gaps between its events under 1 ms{beside}",
                "a stream that is passed on as it comes",
                "Turn the gateway's buffering off: its users see answers in bursts, and ITL says nothing.",
            )
        )
    return found


def _speculation(rounds: Sequence[Any]) -> list[Finding]:
    found = []
    for target, played in _grouped(rounds, _target).items():
        # Both of one round, or neither: a sum over other rounds would be no share.
        both = [one for one in played if None not in (number(one, *DRAFTED), number(one, *ACCEPTED))]
        drafted, accepted = sum(figures(both, *DRAFTED)), sum(figures(both, *ACCEPTED))
        if drafted > 0:
            share = 100 * accepted / drafted
            words = f"{target}: the engine accepted {share:.0f} % of {drafted:.0f} drafted tokens; more is faster."
            found.append(note("speculation", words))
    return found
