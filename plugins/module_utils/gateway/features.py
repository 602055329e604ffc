# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each provider of the gateway can do, and why not; the table in the documentation is made from this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_states import is_address

#: Feature -> what it is, in the words of the documentation's table.
FEATURES: dict[str, str] = {
    "streaming": "Tokens pass one by one",
    "failover": "A request whose bytes were not answered yet goes to another replica",
    "one_generation": "An engine's error is not asked for twice",
    "errors": "An engine's error and answer pass unchanged",
    "disconnect": "A client that leaves ends its generation, streamed or not",
    "keys": "Client keys are checked",
    "hidden_keys": "The gateway's host has digests of the client keys only, compared in constant time",
    "tls": "TLS",
    "active_health": "Active checks: a replica that hangs, loads or has not proven itself gets nothing",
    "names": "A replica's address that cannot be resolved stops nobody else",
    "queue": "A limit per replica, a queue in the gateway, 429 at once when it is full",
    "pressure": "429 while the replicas are short of memory",
    "states": "503 says in which state each replica is",
    "drain": "A replica is drained, and the gateway reloaded, without a lost request",
    "unknown_model": "404 for an unknown model lists the models",
    "several": "Several deployments by model name on one address",
    "responses_pinned": "/v1/responses stays at one replica",
    "responses_by_id": "/v1/responses follows previous_response_id",
    "metrics": "Metrics per replica for Prometheus",
    "virtual_keys": "Keys with budgets, made at run time",
}

_NO_BODIES = "nginx does not read bodies"
_HAPROXY_KEYS = "HAProxy knows the keys of gateway_keys only"

#: Provider -> feature -> why it cannot. LiteLLM and vllm-router stand between a HAProxy and another.
CANNOT: dict[str, dict[str, str]] = {
    "haproxy": {"virtual_keys": _HAPROXY_KEYS},
    "nginx": {
        "hidden_keys": "nginx compares the plain keys, which lie on the gateway's host in a file of mode 0640",
        "active_health": "open source nginx has no active checks: it learns that a replica is gone from the request "
        "that fails there, and never that one hangs or loads",
        "names": "nginx does not start when a name cannot be resolved",
        "queue": "open source nginx holds no request back: they wait inside the engines, and the limit is one number "
        "for the whole deployment",
        "pressure": "nginx does not ask the replicas how they are",
        "states": "nginx does not know the states of the replicas",
        "drain": "nginx takes a replica out by a reload only, which closes idle connections of clients",
        "unknown_model": f"{_NO_BODIES}: the engine's own 404 goes to the client",
        "several": f"{_NO_BODIES}, so it cannot choose by the model's name",
        "responses_by_id": _NO_BODIES,
        "metrics": "open source nginx counts connections and nothing per replica",
        "virtual_keys": "nginx knows the keys of gateway_keys only",
    },
    "litellm": {
        "errors": "LiteLLM writes an engine's errors and chunks anew",
        "disconnect": "LiteLLM ends a streamed generation whose client left, and lets a whole one run on",
    },
    "vllm-router": {
        "several": "a vllm-router serves one deployment",
        "virtual_keys": _HAPROXY_KEYS,
    },
}

PROVIDER = "gateway_provider"


def can(provider: str, feature: str) -> bool:
    """Say whether a provider has a feature; raises KeyError for one that is not in FEATURES."""
    return FEATURES[feature] != "" and feature not in CANNOT[provider]


def _cannot(provider: str, feature: str, variable: str, found: str, wanted: str) -> list[Fault]:
    """Return the fault of a wish that the provider cannot fulfil."""
    if can(provider, feature):
        return []
    able = " or ".join(name for name in CANNOT if can(name, feature))
    reason = CANNOT[provider][feature]
    return [Fault(variable, f"{found} with {PROVIDER} {provider}", f"{wanted} ({reason})", f"Set {PROVIDER} to {able}")]


def faults(description: Mapping[str, Any]) -> list[Fault]:
    """Return what the description asks for and its provider cannot do."""
    provider, deployments = description["provider"], description["deployments"]
    found: list[Fault] = []
    if len(deployments) > 1:
        names = ", ".join(deployment["name"] for deployment in deployments)
        found += _cannot(provider, "several", "serving_deployments", names, "one deployment behind it")
    if description["responses"] == "by_id":
        found += _cannot(provider, "responses_by_id", "gateway_responses", "by_id", "pinned or off")
    for deployment in deployments:
        for replica in deployment["replicas"]:
            if not is_address(replica["address"]):
                address = f"the address {replica['address']} of {replica['name']}"
                found += _cannot(provider, "names", "serving_deployments", address, "an IP address")
    if description["litellm"]["own_keys"] and description["responses"] != "off":
        found.append(
            Fault(
                "gateway_responses",
                f"{description['responses']} with gateway_litellm_env_file",
                "off, for LiteLLM checks the keys and /v1/responses goes past it",
                "Set gateway_responses to off, or use gateway_keys in place of gateway_litellm_env_file",
            )
        )
    if description["litellm"]["own_keys"] and description["keys"]:
        found.append(
            Fault(
                "gateway_keys",
                f"{len(description['keys'])} keys besides gateway_litellm_env_file",
                "either of them: with a file for LiteLLM it checks the keys itself",
                "Empty gateway_keys and make the keys in LiteLLM, or empty gateway_litellm_env_file",
            )
        )
    return found
