# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rounds of a benchmark in the sequence in which they run. Pure.

Rounds of the same case alternate between targets, A B B A, so that a drift (temperature, neighbours) hits all alike;
and each number of users is measured once before any is measured again. The first round of each point warms up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import Part
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.targets import DIRECT, Target, label_of

RoundSpec = dict[str, Any]
# A series warms up with so many requests, at most.
_WARM_SERIES = 3


class Rounds:
    """Gathers rounds; a point that an earlier part has is not measured twice."""

    def __init__(self, values: Mapping[str, Any], turns: Mapping[str, int], once: bool) -> None:
        """
        :param values: what ``options.read_options`` gave
        :param turns: for each case that is a conversation its turns; each of them is a request
        :param once: whether every point is measured in one round only, as in a block of several deployments
        """
        self._turns = turns
        self._values = values
        self._once = once
        self._points: set[str] = set()
        self._ladders: set[str] = set()
        self.rounds: list[RoundSpec] = []
        self.without_ladder: list[str] = []

    def add(self, part: Part, targets: Sequence[Target], letters: Mapping[str, str]) -> None:
        """Add the rounds of a part.

        :param letters: A or B for targets that are compared
        """
        for case in part.cases:
            for endpoint in self._values["endpoints"] or part.endpoints:
                if part.load == "ladder":
                    self._ladder(part, case, endpoint, targets)
                else:
                    self._alternating(part, case, endpoint, targets, letters)

    def _alternating(
        self, part: Part, case: str, endpoint: str, targets: Sequence[Target], letters: Mapping[str, str]
    ) -> None:
        points = []
        for name, load, warm in self._loads(part, case):
            for target in targets:
                ladder = _ladder_name(case, endpoint, target) if part.load == "open" else ""
                if ladder and ladder not in self._ladders:
                    self.without_ladder.append(ladder)
                    continue
                spec = self._spec(part, case, endpoint, target, name)
                spec |= {"load": load, "block": letters.get(target["name"], ""), "ladder": ladder}
                if self._is_new(spec["point"]):
                    points.append((spec, warm))
        for spec, warm in points:
            if warm:
                self._append(spec, 0, load=warm)
        for number in range(1, self._rounds(part) + 1):
            for spec in _turned([spec for spec, _warm in points], number):
                self._append(spec, number)

    def _ladder(self, part: Part, case: str, endpoint: str, targets: Sequence[Target]) -> None:
        top = min(part.top, max(self._values["concurrency"] or [part.top]))
        for target in targets:
            name = _ladder_name(case, endpoint, target)
            if name in self._ladders:
                continue
            self._ladders.add(name)
            own = (case, endpoint, target["name"])
            warm = {one["load"]["n"] for one in self.rounds if _shape(one) == own and one["load"]["model"] == "closed"}
            for users in _steps(top):
                spec = self._spec(part, case, endpoint, target, f"n{users}/ladder")
                load = self._closed(part, case, users)
                spec |= {"load": load, "ladder": name}
                # A first batch of its size is slower: kernels are tuned for it (fault 19 of benchmark.md).
                if users not in warm:
                    self._append(spec, 0, load=self._one_wave(case, load))
                self._append(spec, 1)

    def _loads(self, part: Part, case: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Each load of a part: its name in the id of a point, itself, and the one that warms up for it."""
        if part.load == "open":
            # The ladder has warmed it up.
            return [
                (f"open{share:g}", {"model": "open", "rate": None, "share": share, "requests": part.requests}, {})
                for share in part.shares
            ]
        if part.load == "series":
            load = {"model": "series", "n": 1, "requests": part.requests}
            return [("series", load, {**load, "requests": min(part.requests, _WARM_SERIES)})]
        found = []
        for users in self._values["concurrency"] or part.concurrency:
            load = self._closed(part, case, users)
            name = f"n{users}"
            if part.load == "soak":
                load, name = {**load, "min_s": part.slice_s}, f"n{users}/soak"
            found.append((name, load, self._one_wave(case, load)))
        return found

    def _one_wave(self, case: str, load: Mapping[str, Any]) -> dict[str, Any]:
        """The load that warms up for a closed one: each user once."""
        return {**load, "requests": load["n"] * self._turns.get(case, 1), "min_s": 0.0}

    def _closed(self, part: Part, case: str, users: int) -> dict[str, Any]:
        each = self._values["requests_per_user"] or part.requests_per_user
        seconds = self._values["min_seconds"]
        seconds = part.min_s if seconds is None else seconds
        return {
            "model": "closed",
            "n": users,
            "requests": users * each * self._turns.get(case, 1),
            "min_s": float(seconds),
        }

    def _rounds(self, part: Part) -> int:
        if part.load == "soak":
            return math.ceil(self._values["soak_minutes"] * 60 / part.slice_s)
        return 1 if self._once else self._values["rounds"] or part.rounds

    def _spec(self, part: Part, case: str, endpoint: str, target: Target, load: str) -> RoundSpec:
        words = [case, endpoint, label_of(target), load]
        words += ([] if part.stream else ["whole"]) + ([part.tag] if part.tag else [])
        spec = {"point": "/".join(words), "case": case, "target": target["name"], "endpoint": endpoint}
        return {**spec, "stream": part.stream, "block": "", "ladder": ""}

    def _is_new(self, point: str) -> bool:
        if point in self._points:
            return False
        self._points.add(point)
        return True

    def _append(self, spec: RoundSpec, number: int, **other: Any) -> None:
        head = {"id": f"{len(self.rounds) + 1:04d}"}
        self.rounds.append({**head, **spec, "round": number, "warmup": number == 0, **other})


def pairs_of(parts: Sequence[tuple[Part, Sequence[Target]]]) -> list[dict[str, str]]:
    """Which targets are compared: the gateway with each replica, and the first replica with each other one."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for _part, targets in parts:
        direct = [target for target in targets if target["via"] == DIRECT]
        sides = [(one, other) for one in targets if one["via"] != DIRECT for other in direct]
        sides += [(direct[0], other) for other in direct[1:]]
        for one, other in sides:
            if one["served_model_name"] == other["served_model_name"]:
                name = f"{one['name']} / {other['name']}"
                found[one["name"], other["name"]] = {"name": name, "a": one["name"], "b": other["name"]}
    return list(found.values())


def letters_of(pairs: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """A or B for each target that is compared, by the first pair that names it."""
    letters: dict[str, str] = {}
    for pair in pairs:
        letters.setdefault(pair["a"], "A")
        letters.setdefault(pair["b"], "B")
    return letters


def _turned(specs: list[RoundSpec], number: int) -> list[RoundSpec]:
    """The targets of each load in the other direction every second round; the loads keep their order."""
    if number % 2:
        return specs
    loads: dict[str, list[RoundSpec]] = {}
    for spec in specs:
        loads.setdefault(str(spec["load"]), []).append(spec)
    return [spec for group in loads.values() for spec in reversed(group)]


def _steps(top: int) -> list[int]:
    return [1 << number for number in range(top.bit_length()) if 1 << number <= top]


def _shape(one: RoundSpec) -> tuple[str, str, str]:
    return one["case"], one["endpoint"], one["target"]


def _ladder_name(case: str, endpoint: str, target: Target) -> str:
    return f"{case}/{endpoint}/{label_of(target)}"
