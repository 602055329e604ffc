# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision page: TP=1 on each host or TP=2 over both, by what one run measured of either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import layouts, margins, memory, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import Finding, note
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.layouts import Sides
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.side_by_side import Judged, judged

Point = Mapping[str, Any]

TP1X2, TP2 = layouts.TP1X2, layouts.TP2
NO_DIFFERENCE = "no difference"
NOT_KNOWN = "not known"
EITHER = "either"
CANNOT_BE_SAID = "cannot be said"
# The suite that measures both.
SUITE = "layout"
# Prompts from so many tokens on are long ones.
LONG = 4096
BY_CONSTRUCTION = "By construction, not by a measurement"

# TP=2 is the candidate of each comparison.
_BETTER = (
    (verdict.REGRESSION, TP1X2),
    (verdict.IMPROVEMENT, TP2),
    (verdict.NO_CHANGE, NO_DIFFERENCE),
    (verdict.INCONCLUSIVE, NOT_KNOWN),
)


@dataclass(frozen=True)
class Asked:
    """A question that the page puts to the measurements.

    :ivar aspect: its name, in which ``{users}`` is a number
    :ivar metric: what answers it
    :ivar alone: with one user; else with as many as both layouts were measured with
    """

    aspect: str
    metric: str
    unit: str
    alone: bool


SPEED_OF_ONE = Asked("speed of a single user", "decode_tps", "tok/s", alone=True)
WAIT_OF_ONE = Asked("TTFT of a single user", "ttft_ms", "ms", alone=True)
THROUGHPUT = Asked("throughput with {users} users", "output_tps", "tok/s", alone=False)
WAIT_OF_MANY = Asked("TTFT with {users} users", "ttft_ms", "ms", alone=False)
ASKED = (THROUGHPUT, SPEED_OF_ONE, WAIT_OF_ONE, WAIT_OF_MANY)


@dataclass(frozen=True)
class Answer:
    """What one question got for one case.

    :ivar names: of the layouts
    """

    asked: Asked
    case: str
    users: int | None
    found: Judged | None
    names: Mapping[str, str]

    @property
    def better(self) -> str:
        """Which layout."""
        return NOT_KNOWN if self.found is None else dict(_BETTER)[self.found.verdict]

    def row(self) -> dict[str, Any]:
        """A row of the page."""
        users = "many" if self.users is None else str(self.users)
        return {
            "aspect": f"{self.asked.aspect.format(users=users)}, {self.case}",
            TP1X2: None if self.found is None else self.found.baseline,
            TP2: None if self.found is None else self.found.candidate,
            "unit": self.asked.unit,
            "better": self.better,
            "ratio": None if self.found is None else self.found.ratio,
            "ci95": None if self.found is None else self.found.ci95,
            "note": self._note(),
        }

    def _note(self) -> str:
        if self.found is not None:
            return self.found.note
        if self.asked.alone:
            return "Not measured of both layouts with one user."
        gateway = f"through the gateway of {self.names[TP1X2]}"
        return f"Not measured of both layouts with the same number of users, {gateway}."


def decide(
    points: Sequence[Point],
    deployments: Iterable[Mapping[str, Any]],
    snapshots: Mapping[str, Any],
    cases: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any] | None:
    """``names`` of the layouts, ``rule``, ``rows`` and ``fits``; None when the run does not have both layouts.

    :param snapshots: samples of each host, as the sampler gives them or as a result keeps them
    :param cases: of the order; which of them have long prompts is seen there
    """
    sides = layouts.sides_of(points, deployments)
    if sides is None:
        return None
    answers = _answers(sides)
    failed = _failures(sides)
    least = memory.row(sides, snapshots)
    return {
        "names": sides.names,
        "rule": _rule(sides),
        "rows": [*(answer.row() for answer in answers), failed, least],
        "fits": _fits(sides.names, answers, failed, least, _long_cases(sides, cases)),
    }


def missing(order: Mapping[str, Any], found: Mapping[str, Any] | None) -> list[Finding]:
    """That the suite that is there for the decision has none.

    :param order: of all blocks together; that of one block alone has one layout
    :param found: what :func:`decide` gave
    """
    merged = any(target.get("variant") for target in order.get("targets", ()))
    if found is not None or not merged or (order.get("run") or {}).get("suite") != SUITE:
        return []
    text = (
        "TP=1 on each host and TP=2 over two hosts were not both measured, so this report does not say which of them "
        "fits which use."
    )
    return [note("no_decision", text)]


# A sentence a line; ``{tp1}`` and ``{tp2}`` are the layouts.
RULE = """
A layout is better in a figure when the 95 % interval of the ratio leaves out 1 and the ratio is beyond the margin.
The margin is 5 % for tok/s, 10 % and 20 ms for TTFT; the intervals are judged by Holm over the cases.
When the whole interval is within the margin there is no difference; in all other cases it is not known.
It is not known, either, when a side is invalid or was not measured.
{ways}
What many users get of {tp1} is taken through its gateway only: one server alone is a part of it.
For chat of one user the speed of a single user decides.
For many users their tok/s together decide, for long prompts the TTFT of a single user.
It cannot be said where cases contradict each other or one of them is not known.
Nor can it where requests failed more often with the layout that would have been the choice.
Memory is the least MemAvailable that any host had while its layout was measured; 5 % more is better.
"""


def _answers(sides: Sides) -> list[Answer]:
    """Each metric is judged over all cases together, as Holm wants it."""
    limits = {**dict(margins.DEFAULTS), "decode_tps": dict(margins.DEFAULTS)["tpot_ms"]}
    answers = []
    for asked in ASKED:
        found = []
        for case in layouts.cases_of(sides):
            users = 1 if asked.alone else layouts.most_users(sides, case)
            two = None if users is None else layouts.both(sides, case, users, all_hosts=not asked.alone)
            found.append((case, users, two))
        twos = [two for _case, _users, two in found if two is not None]
        results = iter(judged(twos, asked.metric, limits))
        answers += [
            Answer(asked, case, users, None if two is None else next(results), sides.names)
            for case, users, two in found
        ]
    return answers


def _rule(sides: Sides) -> list[str]:
    ways = "Both layouts are reached the same way where they can be"
    if sides.tp2_is_one_server:
        ways += "; TP=2 over two hosts is one server and needs no gateway"
    lines = RULE.strip().format(tp1=sides.names[TP1X2], ways=f"{ways}.").splitlines()
    one, two = sides.hosts
    if one != two:
        lines.append(
            f"The hosts are not equally many: {one} for TP=1, {two} for TP=2; what many users get hangs on it."
        )
    return lines


def _failures(sides: Sides) -> dict[str, Any]:
    """Of all requests of a layout; any more are worse."""
    shares = {TP1X2: _failed(sides.tp1x2), TP2: _failed(sides.tp2)}
    one, two = shares[TP1X2], shares[TP2]
    better = NOT_KNOWN
    if one is not None and two is not None and one != two:
        better = TP1X2 if one < two else TP2
    elif one is not None and one == two:
        better = NO_DIFFERENCE
    return {"aspect": "failed requests", **shares, "unit": "%", "better": better, "note": ""}


def _failed(points: Iterable[Point]) -> float | None:
    """In percent; None when nothing was sent."""
    failed = requests = 0
    for point in points:
        own = sum(point["errors"].values())
        failed += own
        requests += own + point["summary"]["e2el_ms"]["n"]
    return round(100 * failed / requests, 4) if requests else None


def _long_cases(sides: Sides, cases: Iterable[Mapping[str, Any]]) -> set[str]:
    stated = {case["name"] for case in cases if (case.get("prompt_tokens") or 0) >= LONG}
    seen = {one["case"] for one in sides.all() if (one["summary"].get("prompt_tokens", {}).get("mean") or 0) >= LONG}
    return stated | seen


def _fits(
    names: Mapping[str, str],
    answers: Sequence[Answer],
    failed: Mapping[str, Any],
    least: Mapping[str, Any],
    long: set[str],
) -> list[dict[str, str]]:
    ordinary = [answer for answer in answers if answer.case not in long]
    drawn_out = [answer for answer in answers if answer.case in long]
    return [
        _fit("chat of one user", [one for one in ordinary if one.asked is SPEED_OF_ONE], failed),
        _fit("many users at once", [one for one in ordinary if one.asked is THROUGHPUT], failed),
        _fit("long prompts of one user", [one for one in drawn_out if one.asked is WAIT_OF_ONE], failed),
        {
            "use": "a model or context that one host has no room for",
            "choice": TP2,
            "why": f"{BY_CONSTRUCTION}: TP=2 spreads weights and KV cache over two hosts.{memory.words(least, names)}",
        },
        {
            "use": "answers while a host is away",
            "choice": TP1X2,
            "why": f"{BY_CONSTRUCTION}: replicas on other hosts go on; one of TP=2 needs both of its hosts.",
        },
    ]


def _fit(use: str, answers: Sequence[Answer], failed: Mapping[str, Any]) -> dict[str, str]:
    """The choice for one use, and the numbers that made it."""
    figures = "; ".join(_words(answer) for answer in answers)
    if not answers:
        return {"use": use, "choice": CANNOT_BE_SAID, "why": "No case that tells it was measured of both layouts."}
    named = {answer.better for answer in answers}
    winners = named & {TP1X2, TP2}
    if len(winners) > 1:
        return {"use": use, "choice": CANNOT_BE_SAID, "why": f"The cases contradict each other: {figures}."}
    if NOT_KNOWN in named:
        return {"use": use, "choice": CANNOT_BE_SAID, "why": f"Not every case was settled: {figures}."}
    if not winners:
        return {"use": use, "choice": EITHER, "why": f"There is no difference: {figures}."}
    winner = winners.pop()
    if failed["better"] not in (winner, NO_DIFFERENCE):
        names = answers[0].names
        shares = f"{_number(failed[TP1X2])} % of the requests failed with {names[TP1X2]}"
        why = f"{figures}; but {shares}, {_number(failed[TP2])} % with {names[TP2]}."
        return {"use": use, "choice": CANNOT_BE_SAID, "why": why}
    return {"use": use, "choice": winner, "why": f"{figures}."}


def _words(answer: Answer) -> str:
    row, names = answer.row(), answer.names
    figures = [f"{_number(row[layout])} {row['unit']} with {names[layout]}" for layout in (TP1X2, TP2)]
    said = f"{row['aspect']}: {', '.join(figures)}"
    return f"{said} ({row['better']})" if row["better"] in (NOT_KNOWN, NO_DIFFERENCE) else said


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4g}"
