# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision page: TP=1 on each host or TP=2 over both, by what one run measured of either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import layouts, margins, memory, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.layouts import Sides
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.side_by_side import Judged, judged

Point = Mapping[str, Any]

TP1X2 = "tp1x2"
TP2 = "tp2"
NO_DIFFERENCE = "no difference"
NOT_KNOWN = "not known"
EITHER = "either"
CANNOT_BE_SAID = "cannot be said"
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
    """What one question got for one case."""

    asked: Asked
    case: str
    users: int | None
    found: Judged | None

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
        return "Not measured of both layouts with the same number of users, through the gateway of TP=1 twice."


def decide(
    points: Sequence[Point],
    deployments: Iterable[Mapping[str, Any]],
    snapshots: Mapping[str, Any],
    cases: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any] | None:
    """``rule``, ``rows`` and ``fits``; None when the run does not have both layouts.

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
        "rule": RULE.strip().splitlines(),
        "rows": [*(answer.row() for answer in answers), failed, least],
        "fits": _fits(answers, failed, least, _long_cases(sides, cases)),
    }


# A sentence a line.
RULE = """
A layout is better in a figure when the 95 % interval of the ratio leaves out 1 and the ratio is beyond the margin.
The margin is 5 % for tok/s, 10 % and 20 ms for TTFT; the intervals are judged by Holm over the cases.
When the whole interval is within the margin there is no difference; in all other cases it is not known.
It is not known, either, when a side is invalid or was not measured.
Both layouts are reached the same way where they can be; TP=2 over two hosts is one server and needs no gateway.
What many users get of TP=1 twice is taken through its gateway only: one server alone is half of it.
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
        answers += [Answer(asked, case, users, None if two is None else next(results)) for case, users, two in found]
    return answers


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
    answers: Sequence[Answer], failed: Mapping[str, Any], least: Mapping[str, Any], long: set[str]
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
            "why": f"{BY_CONSTRUCTION}: TP=2 spreads weights and KV cache over both hosts.{memory.words(least)}",
        },
        {
            "use": "answers while a host is away",
            "choice": TP1X2,
            "why": f"{BY_CONSTRUCTION}: the replica on the other host goes on; TP=2 needs both.",
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
        shares = (
            f"{_number(failed[TP1X2])} % of the requests failed with TP=1 twice, {_number(failed[TP2])} % with TP=2"
        )
        why = f"{figures}; but {shares}."
        return {"use": use, "choice": CANNOT_BE_SAID, "why": why}
    return {"use": use, "choice": winner, "why": f"{figures}."}


def _words(answer: Answer) -> str:
    row = answer.row()
    unit = row["unit"]
    said = f"{row['aspect']}: {_number(row[TP1X2])} {unit} with TP=1 twice, {_number(row[TP2])} {unit} with TP=2"
    return f"{said} ({row['better']})" if row["better"] in (NOT_KNOWN, NO_DIFFERENCE) else said


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4g}"
