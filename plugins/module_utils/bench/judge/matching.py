# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points of two sets were measured alike, and the figures of their rounds."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

Point = Mapping[str, Any]
# Loads that are the same share of two knees are alike while their rates differ by no more than this.
LIKE_RATES = 1.10
# A long answer that ends by itself has another length in each run, so its tok/s are not compared.
RATES = frozenset({"output_tps", "output_tps_steady", "request_rate", "goodput_rate"})
# These hang on how many tokens an answer or a prompt has.
OF_TOKENS = frozenset({"tpot_ms", "decode_tps", "output_tps", "output_tps_steady", "prefill_tps"})
# What stands for a point whose answers nobody counted, or not all alike.
NOT_COUNTED = ("none", "mixed")


def alike(point: Point) -> tuple[Hashable, ...]:
    """What two points must share to be laid beside each other, their targets apart."""
    load = point["load"]
    # A share of the knee is another rate in each run.
    rate = None if load.get("share") else load.get("rate")
    load_key = (load["model"], load.get("n"), rate, load.get("share"))
    return (point["case"], point["endpoint"], point["stream"], *load_key, tag_of(point))


def place(point: Point) -> tuple[Hashable, ...]:
    """What a point must share with one of another run to be the same point."""
    return (point["target"], *alike(point))


def is_step(point: Point) -> bool:
    """Whether a point is a step of a ladder, which has one round."""
    return "ladder" in tag_of(point).split()


def tag_of(point: Point) -> str:
    """What a point is part of, such as a ladder; points of one load that differ in it were measured apart.

    >>> tag_of({"id": "short-en/chat/gateway/n4/ladder"}), tag_of({"id": "short-en/chat/gateway/n4"})
    ('ladder', '')
    """
    return " ".join(str(point["id"]).split("/")[4:])


def figures(point: Point, metric: str) -> list[float]:
    """The figure of each measured round that has one."""
    return [value for value in by_round(point, metric).values() if value is not None]


def by_round(point: Point, metric: str) -> dict[int, float | None]:
    """The figure of each measured round by the round's number."""
    measured = [one for one in point["rounds"] if not one.get("warmup") and not one.get("skipped")]
    numbers = [one.get("round", place) for place, one in enumerate(measured)]
    values = point["stats"].get(metric, {}).get("rounds", [])
    return dict(zip(numbers, values, strict=False))


def is_compared(point: Point, metric: str, natural_cases: Collection[str]) -> bool:
    """Whether a metric says anything of the server: a load that is a share of the knee gets what it asks for."""
    return metric not in RATES or not (point["case"] in natural_cases or point["load"].get("share"))


def natural(cases: Iterable[Mapping[str, Any]]) -> set[str]:
    """Names of the cases whose answers end by themselves."""
    return {case["name"] for case in cases if (case.get("output") or {}).get("mode") == "natural"}
