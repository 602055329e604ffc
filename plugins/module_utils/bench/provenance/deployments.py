# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deployments that were measured, from the plan and from what runs on each host. Pure, on the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.provenance.running import flags

Hosts = Mapping[str, Mapping[str, Any]]


def deployments_of(plan: Mapping[str, Any], seen: Hosts, models: Hosts, gateways: Hosts) -> list[dict[str, Any]]:
    """Describe each deployment of the plan by what runs of it; null where nobody knows.

    :param plan: what ``plan`` returned
    :param seen: for each host what ``benchmark_info`` returned
    :param models: for each host what ``model_info`` returned
    :param gateways: for each host what ``gateway_info`` returned
    """
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for replica in plan.get("replicas", []):
        by_name.setdefault(replica["deployment"], []).append(replica)
    gateway = _gateway(gateways)
    return [_deployment(name, replicas, seen, models, gateway) for name, replicas in by_name.items()]


def running_otherwise(plan: Mapping[str, Any], seen: Hosts) -> list[str]:
    """In sentences, which ranks do not run as the plan has them: what is measured is not what the variables say."""
    found = []
    for host, rank in plan.get("ranks", {}).items():
        wanted = rank["container"]
        runs = next((one for one in _ranks(seen, host) if one["name"] == wanted["name"]), None)
        if runs is None:
            others = ", ".join(one["name"] for one in _ranks(seen, host)) or "no engine of this collection"
            found.append(f"{host}: {wanted['name']} does not run, {others} does.")
    return found


def _ranks(seen: Hosts, host: str) -> Sequence[Mapping[str, Any]]:
    return seen.get(host, {}).get("ranks") or []


def _gateway(gateways: Hosts) -> dict[str, str | None] | None:
    for found in gateways.values():
        if found.get("present"):
            packages = found.get("packages") or {}
            version = (packages.get(found["provider"]) or {}).get("installed") or None
            return {"provider": found["provider"], "version": version}
    return None


def _deployment(
    name: str, replicas: Sequence[Mapping[str, Any]], seen: Hosts, models: Hosts, gateway: Mapping[str, Any] | None
) -> dict[str, Any]:
    first = replicas[0]
    head = first["hosts"][0]
    ours = [rank for host in first["hosts"] for rank in _ranks(seen, host) if rank["replica"] == first["name"]]
    rank = next((rank for rank in ours if rank["rank"] == 0), {})
    given, model = flags(rank.get("argv") or []), models.get(head) or {}
    facts = model.get("facts") or {}
    world = len(first["hosts"])
    return {
        "id": name,
        "engine": first["engine"],
        "version": rank.get("version") or None,
        "image": first["image"],
        "image_digest": rank.get("image_digest") or None,
        "model": first["model"],
        "revision": model.get("revision") or None,
        "manifest_digest": model.get("manifest") or None,
        "quant": given.get("quant") or facts.get("quantization") or None,
        "kv_dtype": given.get("kv_dtype", "auto") if rank else None,
        "tensor_parallel_size": first["tensor_parallel_size"],
        "pipeline_parallel_size": first["pipeline_parallel_size"],
        "nnodes": world,
        "executor": (first["backend"] or None) if world > 1 else None,
        "max_model_len": _number(rank.get("max_model_len") or given.get("max_model_len")),
        "max_num_seqs": _number(given.get("max_num_seqs")),
        "gpu_memory_utilization": _number(given.get("gpu_memory_utilization")),
        "argv": list(rank.get("argv") or []),
        "env": dict(rank.get("env") or {}),
        "spec_digest": rank.get("spec_digest") or None,
        "replicas": [{"name": replica["name"], "hosts": list(replica["hosts"])} for replica in replicas],
        "gateway": dict(gateway) if gateway else None,
    }


def _number(value: Any) -> float | int | None:
    """A number that a flag or an engine gives; None for what is none, such as ``auto``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else number
