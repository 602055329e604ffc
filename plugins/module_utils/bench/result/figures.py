# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be drawn, as numbers; ``plugin_utils/bench_pictures`` draws it. Points that are not valid are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.matching import is_step, tag_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import case_table, headline
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.html_parts import slug

Points = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Figure:
    """What all figures have.

    :ivar place: the section it belongs to: a case, a host, ``pairs`` or ``comparison``
    """

    id: str
    place: str
    title: str
    caption: str


@dataclass(frozen=True)
class Curve:
    """A target's values; ``colour`` is the target's number in the run, so that it is the same in each picture.

    :ivar values: x, y, and the ends of the confidence interval or None
    """

    name: str
    colour: int
    values: tuple[tuple[float, float, float | None, float | None], ...]


@dataclass(frozen=True)
class Curves(Figure):
    """Lines over the number of users."""

    y_label: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Shares(Figure):
    """For each target, which share of requests waited no longer than x."""

    x_label: str
    samples: tuple[tuple[str, int, tuple[float, ...]], ...]


@dataclass(frozen=True)
class Strip(Figure):
    """Each round as a dot.

    :ivar groups: labels along x
    :ivar dots: number of the group, target, its colour, value
    """

    y_label: str
    groups: tuple[str, ...]
    dots: tuple[tuple[int, str, int, float], ...]


def of_cases(points: Points, rounds: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """The figures of each case.

    :param rounds: with their requests; without them there is no distribution of TTFT
    """
    colours = _colours(points)
    found: list[Figure] = []
    for name in case_table.names(points):
        own = [point for point in points if headline.case_of(point) == name and point["valid"]]
        curves = _Case(name, own, points, colours)
        found += [
            figure
            for figure in (
                curves.over_users("output_tps", "Throughput over users", "tok/s, all users"),
                curves.over_users("ttft_ms", "TTFT over users", "TTFT (ms)"),
                curves.strip(),
                curves.shares(rounds),
            )
            if figure is not None
        ]
    return found


def _colours(points: Points) -> dict[str, int]:
    names = dict.fromkeys(headline.target_of(point, points) for point in points)
    return {name: number for number, name in enumerate(names)}


class _Case:
    """The figures of one case."""

    def __init__(self, name: str, own: Points, points: Points, colours: Mapping[str, int]) -> None:
        self.name = name
        self.colours = colours
        self.by_target: dict[str, list[Mapping[str, Any]]] = {}
        for point in own:
            self.by_target.setdefault(headline.target_of(point, points), []).append(point)

    def over_users(self, metric: str, title: str, label: str) -> Curves | None:
        """The median of rounds with its confidence interval; None when no target had two numbers of users."""
        curves = []
        for target, own in self.by_target.items():
            values = sorted(_value(point, metric) for point in _in_one_line(own) if _has(point, metric))
            if len({value[0] for value in values}) > 1:
                curves.append(Curve(target, self.colours[target], tuple(values)))
        if not curves:
            return None
        identity = f"picture-{slug(self.name)}-{slug(metric)}"
        return Curves(identity, self.name, title, "Median of rounds; band: 95 % CI.", label, tuple(curves))

    def strip(self) -> Strip | None:
        """Throughput of each round; None when no point has two."""
        loads = list(dict.fromkeys(headline.tagged_load(point) for own in self.by_target.values() for point in own))
        dots = tuple(
            (loads.index(headline.tagged_load(point)), target, self.colours[target], value)
            for target, own in self.by_target.items()
            for point in own
            for value in (point["stats"].get("output_tps") or {}).get("rounds") or []
            if value is not None
        )
        if len({dot[:2] for dot in dots}) == len(dots):
            return None
        identity = f"picture-{slug(self.name)}-rounds"
        return Strip(
            identity, self.name, "Each round", "How far rounds lie apart.", "tok/s, all users", tuple(loads), dots
        )

    def shares(self, rounds: Sequence[Mapping[str, Any]]) -> Shares | None:
        """TTFT of the requests of the highest number of users that every target had."""
        loads = [{headline.tagged_load(point) for point in own} for own in self.by_target.values()]
        common = set.intersection(*loads) if loads else set()
        shared = [point for point in self._points() if headline.tagged_load(point) in common]
        # Points of one load that are part of something else were measured apart: one of them stands for the load.
        best = max(_in_one_line(shared), key=lambda point: point["load"].get("n") or 0, default=None)
        picked, load = (0, "") if best is None else (best["load"].get("n") or 0, headline.tagged_load(best))
        ids = {
            point["id"]: target
            for target, own in self.by_target.items()
            for point in own
            if headline.tagged_load(point) == load
        }
        values: dict[str, list[float]] = {}
        for one in rounds:
            if one["point"] in ids and not one.get("warmup"):
                values.setdefault(ids[one["point"]], []).extend(_first_tokens(one))
        samples = tuple(
            (name, self.colours[name], tuple(sorted(found))) for name, found in values.items() if len(found) > 1
        )
        if not samples or not picked:
            return None
        users = "1 user" if picked == 1 else f"{picked} users"
        identity = f"picture-{slug(self.name)}-ttft-shares"
        return Shares(
            identity, self.name, f"TTFT with {users}", "Share of requests that waited no longer.", "TTFT (ms)", samples
        )

    def _points(self) -> list[Mapping[str, Any]]:
        return [point for own in self.by_target.values() for point in own]


def _in_one_line(points: Points) -> list[Mapping[str, Any]]:
    """The points that stand for a number of users once: a ladder's steps, or others, only without those."""
    plain = [point for point in points if _untagged(point)]
    if len({point["load"].get("n") for point in plain}) > 1:
        return plain
    steps = [point for point in points if is_step(point)]
    return steps if len(steps) > 1 else plain or list(points)


def _untagged(point: Mapping[str, Any]) -> bool:
    """That a point was not streamed stands with its case."""
    return tag_of(point) in ("", "whole")


def _has(point: Mapping[str, Any], metric: str) -> bool:
    known = (point["stats"].get(metric) or {}).get("median") is not None
    return point["load"]["model"] == "closed" and known


def _value(point: Mapping[str, Any], metric: str) -> tuple[float, float, float | None, float | None]:
    found = point["stats"][metric]
    low, high = found.get("ci95") or (None, None)
    return point["load"]["n"], found["median"], low, high


def _first_tokens(one: Mapping[str, Any]) -> list[float]:
    return [
        request["ttft_ms"]
        for request in one.get("requests") or []
        if request.get("error") is None and request.get("ttft_ms") is not None and request.get("measured", True)
    ]
