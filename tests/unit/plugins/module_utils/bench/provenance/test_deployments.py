# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments as a result names them."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.provenance.deployments import (
    deployments_of,
    running_otherwise,
)


def planned(*replicas: tuple[str, list[str]], **more: Any) -> dict[str, Any]:
    """A plan of one deployment, with a rank on each host."""
    public = [
        {
            "name": name,
            "deployment": "main",
            "hosts": hosts,
            "engine": "vllm",
            "image": "acme/vllm:1",
            "model": "org/m",
            "backend": "ray",
            "tensor_parallel_size": len(hosts),
            "pipeline_parallel_size": 1,
            **more,
        }
        for name, hosts in replicas
    ]
    ranks = {
        host: {"container": {"name": f"dgxspark-{name}-r{number}"}}
        for name, hosts in replicas
        for number, host in enumerate(hosts)
    }
    return {"replicas": public, "ranks": ranks}


def rank(name: str, replica: str, number: int, **more: Any) -> dict[str, Any]:
    """What one host says of a container."""
    return {"name": name, "replica": replica, "rank": number, "argv": [], "env": {}, "spec_digest": "d", **more}


def test_a_group_is_described_by_its_rank_0() -> None:
    argv = ["vllm", "serve", "--max-num-seqs", "16", "--gpu-memory-utilization", "0.85"]
    seen = {
        "a": {"ranks": [rank("dgxspark-main-0-r0", "main-0", 0, argv=argv, version="0.32", max_model_len=4096)]},
        "b": {"ranks": [rank("dgxspark-main-0-r1", "main-0", 1, argv=["other"])]},
    }
    models = {"a": {"revision": "abc", "manifest": "sha256:m", "facts": {"quantization": "FP8"}}}
    gateways = {
        "a": {"present": True, "provider": "haproxy", "packages": {"haproxy": {"installed": "3.0.11", "candidate": ""}}}
    }
    [found] = deployments_of(planned(("main-0", ["a", "b"])), seen, models, gateways)
    assert (found["nnodes"], found["tensor_parallel_size"], found["executor"]) == (2, 2, "ray")
    assert (found["max_model_len"], found["max_num_seqs"], found["gpu_memory_utilization"]) == (4096, 16, 0.85)
    assert (found["version"], found["revision"], found["manifest_digest"]) == ("0.32", "abc", "sha256:m")
    assert (found["quant"], found["kv_dtype"], found["argv"]) == ("FP8", "auto", argv)
    assert found["gateway"] == {"provider": "haproxy", "version": "3.0.11"}
    assert found["replicas"] == [{"name": "main-0", "hosts": ["a", "b"]}]


def test_what_nobody_knows_is_null_and_one_host_has_no_executor() -> None:
    [found] = deployments_of(planned(("main-0", ["a"]), ("main-1", ["b"])), {}, {}, {})
    unknown = ("version", "image_digest", "revision", "quant", "kv_dtype", "max_model_len", "executor", "gateway")
    assert {name: found[name] for name in unknown} == dict.fromkeys(unknown)
    assert len(found["replicas"]) == 2


def test_a_rank_that_does_not_run_is_named() -> None:
    plan = planned(("main-0", ["a"]), ("main-1", ["b"]))
    seen = {
        "a": {"ranks": [rank("dgxspark-main-0-r0", "main-0", 0)]},
        "b": {"ranks": [rank("dgxspark-tp1-1-r0", "x", 0)]},
    }
    assert running_otherwise(plan, seen) == ["b: dgxspark-main-1-r0 does not run, dgxspark-tp1-1-r0 does."]
    assert running_otherwise(plan, {})[0] == "a: dgxspark-main-0-r0 does not run, no engine of this collection does."
