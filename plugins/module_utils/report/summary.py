# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment leaves its user with: the address, the replicas, and lines to paste for the first request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.dgxspark.serving.plugins.module_utils.engine_key import KEY_FILE
from ansible_collections.dgxspark.serving.plugins.module_utils.report import clients
from ansible_collections.dgxspark.serving.plugins.module_utils.report.clients import Way
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

HEADER = ("replica", "hosts", "endpoint", "served model", "engine", "smoke tok/s")


@dataclass(frozen=True)
class Readiness:
    """What was seen of a replica when it became ready; nothing of it in check mode."""

    engine_version: str = ""
    tokens_per_second: float | None = None


def summary(
    replicas: Sequence[Mapping[str, Any]], seen: Mapping[str, Readiness], gateway: Mapping[str, Any] | None = None
) -> list[str]:
    """Lines of the summary.

    :param replicas: those of the plan that this run served, at least one
    :param seen: for each replica's name what its readiness check saw
    :param gateway: the plan's description of the gateway; None or empty when there is none
    """
    first = replicas[0]
    model = first["served_model_name"]
    if not gateway:
        way = Way(first["endpoint"])
        return [
            *_replicas(replicas, seen, "endpoint"),
            *_asked("Ask it:", way, model),
            *_codex("Use it from codex", "spark", way, model),
        ]
    front = clients.through(gateway)[0]
    direct = Way(first["endpoint"], clients.ENGINE_KEY if gateway["engine_key"] else "")
    return [
        *_addresses(gateway),
        "",
        *_replicas(replicas, seen, "direct endpoint"),
        *_before(gateway, front),
        *_asked("Ask it:", front, model),
        "",
        # Python would not take it indented.
        *["Ask it from Python, with OpenAI's client:", *clients.openai_client(front, model)],
        *_codex_both(gateway, front, direct, first),
    ]


def _addresses(gateway: Mapping[str, Any]) -> list[str]:
    """The address that people get, and the same on further hosts."""
    heads = ["One address for all replicas:", *["The same on another host:"] * (len(gateway["hosts"]) - 1)]
    return [
        f"{head} {gateway['urls'][host]}/v1  ({gateway['provider']} on {host})"
        for head, host in zip(heads, gateway["hosts"], strict=True)
    ]


def _replicas(replicas: Sequence[Mapping[str, Any]], seen: Mapping[str, Readiness], endpoint: str) -> list[str]:
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
    header = [endpoint if name == "endpoint" else name for name in HEADER]
    said = "Smoke tok/s is one short request, its prompt included: a sign of life, no benchmark."
    return [*table(header, rows), "", said]


def _before(gateway: Mapping[str, Any], front: Way) -> list[str]:
    """What a shell needs before the lines work: a key, and the certificate."""
    lines = []
    if front.key:
        whose = "one that LiteLLM made" if gateway["litellm"]["own_keys"] else ", ".join(gateway["keys"])
        typed = f"read -rs {front.key} && export {front.key}"
        lines += _block(f"It asks for a key. Run this, and paste yours ({whose}):", [typed])
    if front.self_signed:
        lines += _block("Its certificate is its own. Fetch it once:", [clients.fetch_certificate(front)])
    return lines


def _asked(head: str, way: Way, model: str) -> list[str]:
    return _block(head, [clients.curl(way, model)])


def _codex_both(gateway: Mapping[str, Any], front: Way, direct: Way, first: Mapping[str, Any]) -> list[str]:
    """The profiles through the gateway and past it."""
    model, lines = first["served_model_name"], []
    if gateway["responses"] == "off":
        lines += ["", "codex asks /v1/responses, which gateway_responses: off closes at the gateway."]
    else:
        lines += _codex("Use it from codex", "spark", front, model)
    # Engines that only their own host's gateway asks listen on loopback.
    alone = urlsplit(direct.url).hostname in ("127.0.0.1", "::1")
    where = f"on {first['hosts'][0]}" if alone else "where its address is reached"
    lines += _codex(f"Use {first['name']} past the gateway from codex {where}", "spark-direct", direct, model)
    if direct.key:
        lines.append(f"  # {direct.key} is what {KEY_FILE} holds on {first['hosts'][0]}; root reads it.")
    return lines


def _codex(head: str, profile: str, way: Way, model: str) -> list[str]:
    trust = f"CODEX_CA_CERTIFICATE=$PWD/{clients.CERTIFICATE} " if way.self_signed else ""
    return _block(
        f"{head} (~/.codex/{profile}.config.toml, then `{trust}codex --profile {profile}`):",
        clients.codex_profile(way, model),
    )


def _block(head: str, lines: Sequence[str]) -> list[str]:
    return ["", head, *[f"  {line}".rstrip() for line in lines]]
