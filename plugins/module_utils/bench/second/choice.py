# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a second source is asked: some points of a run, once more by another client, at one replica. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.dgxspark.serving.plugins.module_utils.models import hub_cache
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE

NONE, VLLM_RS = "none", "vllm_rs"
SOURCES = (NONE, VLLM_RS)
# Up to so many users both clients are sure to be faster than the server.
MOST_USERS = 8
# Medians of fewer requests say little.
LEAST_REQUESTS = 8
REQUESTS_PER_USER = 4
# Where a case does not say how long its prompts are and no round has told.
PROMPT_TOKENS = 64
DEFAULT_REVISION = "main"

Wanted = dict[str, Any]


def nothing(note: str = "") -> Wanted:
    """What is wanted when nothing can be asked, and why."""
    return {"host": "", "points": [], "notes": [note] if note else []}


def wanted_of(engine: str, order: Mapping[str, Any], plan: Mapping[str, Any], redeploys: bool) -> Wanted:
    """What the second source is to be asked.

    :param engine: of ``SOURCES``
    :param plan: what ``plan`` returned
    :param redeploys: whether the run deploys several things in turn
    :returns: ``host`` of rank 0, its ``container``, the engine's ``url`` there, the ``served_model_name``, the model's
        ``folder`` in the container with the ``revision`` of a cache (empty for a plain folder), and ``points``, each
        with ``point``, ``n``, ``requests``, ``output_tokens``, ``prompt_tokens`` and ``seed``; or no points and
        ``notes`` that say why
    """
    if engine == NONE:
        return nothing()
    if redeploys:
        remedy = "Ask it with a suite that measures what runs, such as quick."
        return nothing(f"vllm-rs was not asked: this run deploys in turn what it measures. {remedy}")
    for target in order["targets"]:
        rank = plan["ranks"].get(target["hosts"][0]) if target["via"] == "direct" else None
        points = points_of(order, target["name"]) if rank else []
        if not rank or not points:
            continue
        if urlsplit(rank["api"]).scheme != "http":
            return nothing(
                f"vllm-rs was not asked: {target['name']} is at {rank['api']}, wanted a replica without TLS. "
                "Compare it by hand: vllm-rs bench serve --insecure."
            )
        folder, revision = _model(rank)
        return {
            "host": target["hosts"][0],
            "container": rank["container"]["name"],
            "image": rank["container"]["image"],
            "url": rank["api"],
            "served_model_name": target["served_model_name"],
            "folder": folder,
            "revision": revision,
            "points": points,
            "notes": [],
        }
    return nothing(
        f"vllm-rs was not asked: the suite {order['run']['suite']} measures no replica directly with streamed chats of "
        f"a fixed length, cold, and up to {MOST_USERS} users. Add direct to benchmark_targets, or choose quick."
    )


def points_of(order: Mapping[str, Any], target: str) -> list[dict[str, Any]]:
    """Of the first case that fits, the points with the fewest and with the most users up to 8."""
    cases = {case["name"]: case for case in order["cases"]}
    fits = [one for one in order["rounds"] if one["target"] == target and _fits(one, cases.get(one["case"]) or {})]
    found = {one["load"]["n"]: one for one in reversed(fits) if one["case"] == fits[0]["case"]}
    ends = sorted({min(found), max(found)}) if found else []
    return [_point(found[users], cases, str(order["run"]["nonce"])) for users in ends]


def with_prompts(wanted: Wanted, points: Sequence[Mapping[str, Any]]) -> Wanted:
    """With prompts as long as those that were measured; points of which nothing was measured are left out.

    :param points: as ``points_of`` of the measurement makes them
    """
    seen = {point["id"]: point["summary"]["prompt_tokens"]["p50"] for point in points}
    asked = [
        {**one, "prompt_tokens": round(seen[one["point"]] or one["prompt_tokens"])}
        for one in wanted["points"]
        if one["point"] in seen
    ]
    return {**wanted, "points": asked}


def _fits(spec: Mapping[str, Any], case: Mapping[str, Any]) -> bool:
    load = spec["load"]
    return (
        spec["endpoint"] == "chat"
        and spec["stream"]
        and not spec["ladder"]
        and not spec["warmup"]
        and load["model"] == "closed"
        and load["n"] <= MOST_USERS
        and case.get("cache") == "cold"
        and case["output"]["mode"] == "fixed"
        and not case.get("conversations")
    )


def _point(spec: Mapping[str, Any], cases: Mapping[str, Any], nonce: str) -> dict[str, Any]:
    case, users = cases[spec["case"]], spec["load"]["n"]
    # Its own random prompts begin anew with each seed, so that no cache of an earlier run answers.
    seed = int(hashlib.sha256(f"{nonce} {spec['point']}".encode()).hexdigest()[:7], 16)
    return {
        "point": spec["point"],
        "n": users,
        "requests": max(LEAST_REQUESTS, REQUESTS_PER_USER * users),
        "output_tokens": case["output"]["tokens"],
        "prompt_tokens": case["prompt_tokens"] or PROMPT_TOKENS,
        "seed": seed,
    }


def _model(rank: Mapping[str, Any]) -> tuple[str, str]:
    """The model's folder in the container, and the revision in it when it is one of a Hugging Face cache."""
    mount = rank["container"]["model_mount"]
    if rank["model_hub"] != HUGGING_FACE:
        return mount, ""
    return f"{mount}/{hub_cache.folder(rank['model'])}", rank["model_revision"] or DEFAULT_REVISION
