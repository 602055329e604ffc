# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshots of a host before, during and after the measured time, and requests as lines of their own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import no_secrets


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
    rest = {"interval_s": seen.get("interval_s"), "cost": seen.get("cost"), "errors": list(seen.get("errors") or [])}
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


def request_lines(rounds: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Each request of each round as a line of JSON, with its round's id, point and whether it was a warm-up."""
    for one in rounds:
        own = {"round": one["id"], "point": one["point"], "warmup": bool(one.get("warmup"))}
        for request in one.get("requests") or []:
            said = {key: no_secrets.without(request.get(key)) for key in ("error", "sample") if key in request}
            yield json.dumps({**own, **request, **said}, ensure_ascii=False, separators=(",", ":"))
