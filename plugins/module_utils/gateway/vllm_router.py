# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vllm-router between HAProxy's front and HAProxy's listeners: it only chooses the replica of one deployment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import haproxy, local_ports, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import VENV_PACKAGES, Rendered

PACKAGES = (*haproxy.PACKAGES, *VENV_PACKAGES)
VENV = "vllm-router"
_PROGRAM = f"/opt/dgxspark-serving/gateway-{VENV}/bin/vllm-router"
# Its metrics are on loopback; HAProxy's tell of each replica.


def render(description: Mapping[str, Any], host: str) -> Rendered:
    """Return HAProxy and vllm-router on a host; the description has one deployment (``features.faults`` sees to it)."""
    middle = haproxy.Middle("vllm-router", "/liveness")
    front = units.haproxy()
    router = units.router(_command(description), {"NO_COLOR": "1"})
    files = (*haproxy.files(description, middle), *front.files, *router.files)
    return Rendered(files, (front.unit, router.unit), (haproxy.CHECK,), VENV)


def _command(description: Mapping[str, Any]) -> list[str]:
    replicas = len(description["deployments"][0]["replicas"])
    workers = [f"http://127.0.0.1:{local_ports.REPLICAS + number}" for number in range(replicas)]
    flags = {
        "--host": "127.0.0.1",
        "--port": local_ports.ROUTER,
        "--prometheus-port": local_ports.ROUTER_METRICS,
        # Alone, a worker never comes up with power_of_two.
        "--policy": description["router_policy"] if replicas > 1 else "round_robin",
        "--health-check-interval-secs": 1,
        "--health-check-timeout-secs": 2,
        "--health-failure-threshold": 1,
        "--health-success-threshold": 1,
        "--worker-startup-check-interval": 1,
        # It waits for its first worker only, which may be the one that is down: not for long, its checks go on.
        "--worker-startup-timeout-secs": 1,
        # HAProxy ends a silent request.
        "--request-timeout-secs": 86_400,
        "--max-payload-size": description["body_limit"],
        "--log-level": "warning",
    }
    # HAProxy fails over; the router's retries would also repeat what an engine answered with an error.
    return [
        _PROGRAM,
        *(str(word) for flag in flags.items() for word in flag),
        *("--disable-retries", "--disable-circuit-breaker", "--worker-urls", *workers),
    ]
