# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""LiteLLM between HAProxy's front and HAProxy's listeners: one model for each deployment.

HAProxy chooses the replica and fails over: LiteLLM sees one address for each deployment, and a failure there is final.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import haproxy, local_ports, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import (
    FOLDER,
    RUN_FOLDER,
    VENV_PACKAGES,
    File,
    Rendered,
)

NAME = "litellm.yaml"
PACKAGES = (*haproxy.PACKAGES, *VENV_PACKAGES)
VENV = "litellm"
_PROGRAM = f"/opt/dgxspark-serving/gateway-{VENV}/bin/litellm"
# Nothing is fetched at a start, nothing is told to others, and no request is written to the log.
_ENVIRONMENT = {
    "HOME": f"{RUN_FOLDER}-router",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
    "LITELLM_TELEMETRY": "False",
    "NO_DOCS": "True",
    "DISABLE_ADMIN_UI": "True",
}


def render(description: Mapping[str, Any], host: str) -> Rendered:
    """Return HAProxy and LiteLLM on a host."""
    middle = haproxy.Middle("litellm", "/health/liveliness", own_keys=description["litellm"]["own_keys"])
    front = units.haproxy()
    router = units.router(
        [_PROGRAM, "--config", f"{FOLDER}/{NAME}", "--host", "127.0.0.1", "--port", str(local_ports.ROUTER)],
        _ENVIRONMENT,
    )
    files = (*haproxy.files(description, middle), *front.files, File(NAME, _configuration(description)), *router.files)
    return Rendered(files, (front.unit, router.unit), (haproxy.CHECK,), VENV)


def _configuration(description: Mapping[str, Any]) -> str:
    """JSON, which is YAML, too."""
    timeout = description["timeout"]
    general: dict[str, Any] = {"disable_spend_logs": True}
    if not description["litellm"]["own_keys"]:
        # LiteLLM does not start without a key unless it is told to: it listens on loopback, and HAProxy asks for keys.
        general = {"dangerously_permit_weak_or_unset_master_key": True, **general}
    settings = {
        "num_retries": 0,
        "request_timeout": timeout,
        "telemetry": False,
        "turn_off_message_logging": True,
        **description["litellm"]["settings"],
    }
    found = {
        "model_list": [_model(deployment, number) for number, deployment in enumerate(description["deployments"])],
        "litellm_settings": settings,
        # A cooldown would keep the only address of a deployment from requests after a failure.
        "router_settings": {"num_retries": 0, "timeout": timeout, "disable_cooldowns": True},
        "general_settings": general,
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _model(deployment: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Name the deployment as the engine does: what follows ``hosted_vllm/`` reaches the engine as it is (G11)."""
    name = deployment["served_model_name"]
    return {
        "model_name": name,
        "litellm_params": {
            "model": f"hosted_vllm/{name}",
            "api_base": f"http://127.0.0.1:{local_ports.DEPLOYMENTS + number}/v1",
            # HAProxy puts the engine's in its place; LiteLLM wants some.
            "api_key": "none",
        },
    }
