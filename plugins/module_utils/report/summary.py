# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment leaves its user with: the replicas, and lines to paste for the first request."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

HEADER = ("replica", "hosts", "endpoint", "served model", "engine", "smoke tok/s")


@dataclass(frozen=True)
class Readiness:
    """What was seen of a replica when it became ready; nothing of it in check mode."""

    engine_version: str = ""
    tokens_per_second: float | None = None


def summary(replicas: Sequence[Mapping[str, Any]], seen: Mapping[str, Readiness]) -> list[str]:
    """Lines of the summary.

    :param replicas: those of the plan that this run served, at least one
    :param seen: for each replica's name what its readiness check saw
    """
    rows = []
    for replica in replicas:
        ready = seen.get(replica["name"], Readiness())
        rows.append(
            (
                replica["name"],
                ", ".join(replica["hosts"]),
                replica["endpoint"],
                replica["served_model_name"],
                f"{replica['engine']} {ready.engine_version}".strip(),
                "-" if ready.tokens_per_second is None else f"{ready.tokens_per_second:.1f}",
            )
        )
    first = replicas[0]
    return [
        *table(HEADER, rows),
        "",
        "Smoke tok/s is one short request, its prompt included: a sign of life, no benchmark.",
        "",
        "Ask it:",
        f"  {curl(first['endpoint'], first['served_model_name'])}",
        "",
        "Use it from codex (~/.codex/config.toml, then `codex --profile spark`):",
        *[f"  {line}" for line in codex_profile(first["endpoint"], first["served_model_name"])],
    ]


def curl(endpoint: str, model: str) -> str:
    """A command that streams one answer."""
    payload = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 64, "stream": True}
    body = shlex.quote(json.dumps(payload, ensure_ascii=False))
    return f"curl -N {endpoint}/v1/chat/completions -H 'Content-Type: application/json' -d {body}"


def codex_profile(endpoint: str, model: str) -> list[str]:
    """Lines of TOML that make the endpoint a codex profile."""
    # JSON's quoting of text is TOML's as well.
    return [
        "[model_providers.spark]",
        'name = "DGX Spark"',
        f"base_url = {json.dumps(endpoint + '/v1')}",
        'wire_api = "responses"',
        "",
        "[profiles.spark]",
        'model_provider = "spark"',
        f"model = {json.dumps(model, ensure_ascii=False)}",
    ]
