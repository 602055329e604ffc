# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a provider cannot do is a fault with its reason, before anything changes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import features
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS


def _described(provider: str, **changes: Any) -> dict[str, Any]:
    deployment = {"name": "chat", "replicas": [{"name": "chat-0", "address": "192.0.2.11"}]}
    return {
        "provider": provider, "deployments": [deployment], "responses": "pinned", "keys": [],
        "router_policy": "power_of_two", "litellm": {"settings": {}, "own_keys": False}, **changes,
    }  # fmt: skip


SEVERAL = [{"name": name, "replicas": []} for name in ("chat", "embed")]
NAMED = [{"name": "chat", "replicas": [{"name": "chat-0", "address": "spark1"}]}]
CASES = [
    ({}, set()),
    ({"deployments": SEVERAL}, {"nginx", "vllm-router"}),
    ({"responses": "by_id"}, {"nginx"}),
    ({"deployments": NAMED}, {"nginx"}),
]


@pytest.mark.parametrize(("changes", "unable"), CASES)
@pytest.mark.parametrize("provider", features.CANNOT)
def test_a_wish_that_the_provider_cannot_fulfil(provider: str, changes: dict[str, Any], unable: set[str]) -> None:
    faults = features.faults(_described(provider, **changes))
    assert bool(faults) is (provider in unable)
    for fault in faults:
        assert provider in fault.found
        assert "haproxy" in fault.remedy


@pytest.mark.parametrize(
    ("changes", "variable"),
    [({}, ""), ({"keys": ["laptop"]}, "gateway_keys"), ({"responses": "pinned"}, "gateway_responses")],
)
def test_keys_that_litellm_checks_itself(changes: dict[str, Any], variable: str) -> None:
    litellm = {"settings": {}, "own_keys": True}
    faults = features.faults(_described("litellm", litellm=litellm, **{"responses": "off", **changes}))
    assert [fault.variable for fault in faults] == ([variable] if variable else [])


def test_every_reason_is_of_a_feature() -> None:
    assert set(features.CANNOT) == set(PROVIDERS)
    for reasons in features.CANNOT.values():
        assert set(reasons) <= set(features.FEATURES)
        assert all(reasons.values())
