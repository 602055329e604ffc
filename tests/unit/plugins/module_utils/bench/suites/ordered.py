# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan with two replicas behind a gateway, and what orders are made from in tests."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import with_digest
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.options import read_options
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.order import Surroundings, make_order
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import Suite, read_suite
from ansible_collections.dgxspark.serving.plugins.module_utils.plan import make
from ansible_collections.dgxspark.serving.plugins.module_utils.request import Request

HOSTS = ("spark1", "spark2")
NOW = 1796033700.0  # 2026-11-30 10:15:00 UTC


def links(hosts: tuple[str, ...] = HOSTS) -> dict[str, list[dict[str, str]]]:
    return {host: [{"interface": "e0", "address": f"192.0.2.{11 + number}/24"}] for number, host in enumerate(hosts)}


def plan(hosts: tuple[str, ...] = HOSTS, world_size: int = 1, fabric: bool = True, **variables: Any) -> dict[str, Any]:
    """What the plan of these hosts is."""
    shared = {"serving_model": "org/m", **variables}
    of_host = {
        host: {**shared, "ansible_host": host, "fabric_links": links(hosts)[host] if fabric else []} for host in hosts
    }
    extra = {"serving_transport": "socket"} if world_size > 1 else {}
    roles = ("gateway_keys",)
    return make(Request("sparks", hosts, of_host, extra, roles, deployment_name="main", world_size=world_size))


def case(name: str, prompt: int | None = 128, tokens: int = 128, turns: int = 0) -> dict[str, Any]:
    questions: dict[str, Any] = {"conversations": [["?"] * turns]} if turns else {"prompts": ["?"]}
    return with_digest(
        {
            "name": name,
            "language": name[-2:],
            "description": "d",
            "prompt_tokens": prompt,
            "output": {"mode": "fixed", "tokens": tokens},
            "cache": "cold",
            "max_share_cached": 0.01,
            "shared_prefix": False,
            **questions,
        }
    )


def cases() -> dict[str, Any]:
    made = [case("short-en"), case("short-zh"), case("long-en", tokens=512), case("talk-en", None, turns=4)]
    return {one["name"]: one for one in made}


def suite(*parts: dict[str, Any], **more: Any) -> Suite:
    """A suite with these parts."""
    document = {"name": "try", "description": "d", "parts": list(parts), **more}
    read, faults = read_suite(document, "try.yml")
    assert read is not None, faults
    return read


def options(**raw: Any) -> dict[str, Any]:
    values, faults = read_options(raw)
    assert faults == []
    return values


def made(of: Suite, raw: dict[str, Any] | None = None, **around: Any) -> dict[str, Any]:
    """What is ordered."""
    given = {"plan": plan(), "cases": cases(), "hosts": HOSTS, "links": links(), "now": NOW, "nonce": "0" * 16}
    return make_order(options(**(raw or {})), of, Surroundings(**{**given, **around}))
