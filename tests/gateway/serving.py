# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gateway with its engines, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.features import can
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS
from tests.gateway.clients import Client
from tests.gateway.engines import MockEngine, free_port, wait_until
from tests.gateway.providers import Started

KEYS = {"laptop": "sk-laptop-1", "ci": "sk-ci-2"}
ENGINE_KEY = "engine-key-3"


@dataclass
class Gateway:
    """A running gateway with its engines.

    :ivar client: asks with the key of KEYS["laptop"]
    """

    started: Started
    engines: list[MockEngine]
    client: Client

    def mend(self) -> None:
        """Have all engines as at the start, and in rotation."""
        for engine in self.engines:
            engine.start()
            engine.set(hang="", status=0)
            engine.door.reset()
        self.wait_rotation({engine.name for engine in self.engines})

    def wait_rotation(self, names: set[str], seconds: float = 20.0) -> float:
        """Wait until exactly these engines answer to a row of requests; returns the seconds."""

        def seen() -> bool:
            answers = [self.client.chat() for number in range(2 * len(self.engines) + 2)]
            return {answer.engine for answer in answers if answer.status == 200} == names and all(
                answer.status == 200 for answer in answers
            )

        return wait_until(seen, f"{names} are in rotation", seconds)


Serve = Callable[..., Gateway]


def description(provider: str, engines: list[MockEngine], **changes: Any) -> dict[str, Any]:
    """Return the description of a gateway with one deployment, with changes of its fields or of the deployment's."""
    deployment = {
        "name": "chat", "served_model_name": "tiny-chat", "engine": "vllm", "concurrency": 64, "queue": 128,
        "queue_timeout": 60, "replicas": [engine.described() for engine in engines],
    }  # fmt: skip
    deployment.update({key: changes.pop(key) for key in list(changes) if key in deployment})
    port = free_port()
    return {
        "provider": provider, "hosts": ["spark1"], "listen": {"address": "127.0.0.1", "port": port},
        "urls": {"spark1": f"http://127.0.0.1:{port}"}, "tls": "", "names": ["127.0.0.1"], "keys": list(KEYS),
        "deployments": [deployment], "responses": "pinned", "paths": [], "body_limit": 67_108_864, "timeout": 600,
        "connect_timeout": 2, "metrics": {"address": "127.0.0.1", "port": free_port()}, "engine_key": True,
        "router_policy": "power_of_two", "litellm": {"settings": {}, "own_keys": False}, **changes,
    }  # fmt: skip


def able(features: list[str]) -> list[str]:
    """Return the providers that have all these features."""
    return [name for name in PROVIDERS if all(can(name, feature) for feature in features)]
