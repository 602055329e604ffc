# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshots of a host before, during and after the measured time, and requests as lines of their own."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import clocks
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import no_secrets
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import standing


def measured_time(rounds: Iterable[Mapping[str, Any]]) -> tuple[float, float] | None:
    """When the first measured round began and the last one ended; None when none was measured."""
    spans = [
        (one["began"], one["began"] + one["seconds"])
        for one in rounds
        if not one.get("warmup") and not one.get("skipped") and one.get("began") is not None
    ]
    return (min(begun for begun, _end in spans), max(end for _begun, end in spans)) if spans else None


def snapshots(seen: Mapping[str, Any], measured: tuple[float, float] | None) -> dict[str, Any]:
    """``before``, ``during`` and ``after`` of a host's samples; null where there is none."""
    samples: Sequence[Mapping[str, Any]] = sorted(seen.get("samples") or [], key=lambda sample: sample["t"])
    rest = {
        "interval_s": seen.get("interval_s"),
        "cost": seen.get("cost"),
        "errors": list(seen.get("errors") or []),
        clocks.KEY: seen.get(clocks.KEY),
        **standing.joined([seen]),
    }
    if measured is None:
        return {"before": samples[0] if samples else None, "during": [], "after": None, **rest}
    begun, ended = measured
    before = [sample for sample in samples if sample["t"] < begun]
    after = [sample for sample in samples if sample["t"] > ended]
    return {
        "before": before[-1] if before else None,
        "during": [sample for sample in samples if begun <= sample["t"] <= ended],
        "after": after[0] if after else None,
        **rest,
    }


def continued(before: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> dict[str, Any]:
    """The samples of a host in a run that went on: those that an earlier part has left, and those of this one.

    :param before: as a result keeps them; None when there are none
    :param now: as the sampler gives them; None when there are none
    :returns: as the sampler gives them
    """
    old, new = before or {}, now or {}
    later: list[Any] = list(new.get("samples") or [])
    begun = min((sample["t"] for sample in later), default=math.inf)
    kept = [old.get("before"), *(old.get("during") or []), old.get("after")]
    # A report that is made again has the samples of this part already.
    earlier = [sample for sample in kept if sample and sample["t"] < begun]
    errors = [*(old.get("errors") or []), *(new.get("errors") or [])]
    return {
        **new,
        "interval_s": new.get("interval_s", old.get("interval_s")),
        "samples": [*earlier, *later],
        "cost": _added(old.get("cost"), new.get("cost")) if earlier else new.get("cost"),
        "errors": list(dict.fromkeys(errors)),
        clocks.KEY: clocks.farthest([old, new]),
        **standing.joined([old, new]),
    }


def _added(*costs: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What both parts took; of one that did not say it nothing is known."""
    known = [cost for cost in costs if cost and None not in (cost.get("cpu_s"), cost.get("seconds"))]
    return {key: sum(cost[key] for cost in known) for key in ("cpu_s", "seconds")} if known else None


def request_lines(rounds: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Each request of each round as a line of JSON, with its round's id, point and whether it was a warm-up."""
    for one in rounds:
        own = {"round": one["id"], "point": one["point"], "warmup": bool(one.get("warmup"))}
        for request in one.get("requests") or []:
            said = {key: no_secrets.without(request.get(key)) for key in ("error", "sample") if key in request}
            yield json.dumps({**own, **request, **said}, ensure_ascii=False, separators=(",", ":"))
