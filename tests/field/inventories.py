# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventories as the plan takes them, for faults that the plan must find or not make."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import plan
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.module_utils.request import Request

MODEL = "/srv/models/tiny"
SPARK_A = {
    "fabric_links": [
        {"interface": "enp1s0f0np0", "address": "192.0.2.11/24", "rdma_device": "rocep1s0f0"},
        {"interface": "enP2p1s0f0np0", "address": "203.0.113.11/24", "rdma_device": "roceP2p1s0f0"},
    ]
}
SPARK_B = {
    "fabric_links": [
        {"interface": "enp1s0f0np0", "address": "192.0.2.12/24", "rdma_device": "rocep1s0f0"},
        {"interface": "enP2p1s0f0np0", "address": "203.0.113.12/24", "rdma_device": "roceP2p1s0f0"},
    ]
}


def request(hosts: dict[str, dict[str, Any]], everywhere: dict[str, Any] | None = None, **more: Any) -> Request:
    """A request for one model over hosts with variables of their own."""
    shared = {"serving_model": MODEL, **(everywhere or {})}
    variables = {host: {**shared, **own} for host, own in hosts.items()}
    return Request(group="sparks", hosts=tuple(hosts), variables=variables, **more)


def pair(
    a: dict[str, Any] | None = None,
    b: dict[str, Any] | None = None,
    everywhere: dict[str, Any] | None = None,
    **more: Any,
) -> Request:
    """A request for one replica over spark-a and spark-b; more variables of each may be given."""
    hosts = {"spark-a": {**SPARK_A, **(a or {})}, "spark-b": {**SPARK_B, **(b or {})}}
    return request(hosts, everywhere, **{"world_size": 2, "deployment_name": "tp2", **more})


def environments(asked: Request) -> dict[str, dict[str, str]]:
    """The environment of each rank's container, by host."""
    return {host: rank["container"]["env"] for host, rank in plan.make(asked)["ranks"].items()}


def faults(asked: Request) -> list[str]:
    """What is wrong with a configuration, a line each."""
    with pytest.raises(ConfigurationError) as caught:
        plan.make(asked)
    return [line.split(". ", 1)[1] for line in str(caught.value).splitlines()[1:]]
