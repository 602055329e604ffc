#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until an engine has really generated."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_ready
short_description: Wait until an engine has really generated
version_added: 0.1.0
description:
  - An engine is ready when its container runs, C(/health) answers 200, C(/v1/models) lists the served name, and one
    request has brought tokens. C(/health) alone proves nothing.
  - Says every few seconds how far the engine is, with its last log line, also without C(-v).
  - While the one request runs nothing is said, up to O(generation_timeout).
  - Fails at once when the container ends, when the engine serves another name, or when the generation fails.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  container:
    description: Name of the engine's container.
    type: str
    required: true
  url:
    description: Base URL of the engine's API as the host itself reaches it.
    type: str
    required: true
  served_model_name:
    description: Name that the engine must serve, and that the request asks for.
    type: str
    required: true
  timeout:
    description: Seconds until waiting is given up.
    type: int
    default: 1800
  generation_timeout:
    description: Seconds that the one request may take.
    type: int
    default: 120
  max_tokens:
    description: Tokens that the request asks for.
    type: int
    default: 32
  window:
    description:
      - Seconds after which a look at the host returns although the engine is not ready, so that progress can be shown.
      - The controller then looks again, until O(timeout).
    type: int
    default: 8
notes:
  - In check mode nothing is waited for, since the container may not exist yet.
attributes:
  check_mode:
    description: Can run in check mode.
    support: partial
    details: It is skipped.
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing.
"""

EXAMPLES = r"""
- name: Wait for the engine
  dgxspark.serving.replica_ready:
    container: dgxspark-tp1-0-r0
    url: http://127.0.0.1:8000
    served_model_name: Qwen/Qwen3-0.6B
"""

RETURN = r"""
state:
  description: How the wait ended, V(ready) unless the task failed or ended its window.
  returned: success
  type: str
stage:
  description: How far the engine is, V(container), V(start), V(models) or V(generation).
  returned: always
  type: str
detail:
  description: What was seen, in words.
  returned: always
  type: str
log:
  description: The last lines of the engine's log.
  returned: when the engine is not ready
  type: list
  elements: str
engine_version:
  description: What the engine's C(/version) says; empty where it has none.
  returned: when ready
  type: str
tokens:
  description: Tokens that the request brought, as the engine counts them.
  returned: when ready
  type: int
tokens_per_second:
  description: These tokens by the request's whole time, prompt included.
  returned: when ready
  type: float
"""

import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import readiness
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.engine_api import EngineApi

# Seconds between two looks.
PAUSE = 0.5


def look(docker: Docker, api: EngineApi, params: dict) -> readiness.Observation:
    """Observe as far as the engine has come; the request for tokens is sent once everything before it holds."""
    container = docker.container(params["container"])
    health = api.health() if container is not None and container.status == "running" else None
    served = api.served() if health == 200 else None
    generation = None
    if served is not None and params["served_model_name"] in served:
        generation = api.generate(params["served_model_name"], params["max_tokens"], params["generation_timeout"])
        # An engine that dies in its first generation: what the container says now is the better reason.
        if generation.error:
            container = docker.container(params["container"])
    return readiness.Observation(container, health, served, generation)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "container": {"type": "str", "required": True},
            "url": {"type": "str", "required": True},
            "served_model_name": {"type": "str", "required": True},
            "timeout": {"type": "int", "default": readiness.DEFAULT_TIMEOUT},
            "generation_timeout": {"type": "int", "default": 120},
            "max_tokens": {"type": "int", "default": 32, "no_log": False},
            "window": {"type": "int", "default": 8},
        },
        supports_check_mode=True,
    )
    docker = Docker(module)
    api = EngineApi(module.params["url"])
    end = time.monotonic() + module.params["window"]
    while True:
        seen = look(docker, api, module.params)
        verdict = readiness.judge(seen, module.params["served_model_name"])
        if verdict.state != readiness.WAITING or time.monotonic() >= end:
            break
        time.sleep(PAUSE)
    result = {"changed": False, "state": verdict.state, "stage": verdict.stage, "detail": verdict.detail}
    if verdict.state == readiness.READY:
        result.update(
            engine_version=api.version(),
            tokens=seen.generation.tokens,
            tokens_per_second=round(seen.generation.tokens_per_second, 1),
        )
    else:
        result["log"] = docker.log(module.params["container"])
    module.exit_json(**result)


if __name__ == "__main__":
    main()
