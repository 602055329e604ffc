# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and results with stated figures of their rounds, for the tests of what is judged by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.intervals import over_rounds

# Five rounds that spread by about one percent.
NEAR_ONE = (0.99, 1.0, 1.01, 1.005, 0.995)


def spread(centre: float) -> list[float]:
    """Five rounds around a figure."""
    return [centre * factor for factor in NEAR_ONE]


def point(
    target: str = "gateway", users: int = 4, case: str = "short-en", failed: int = 0, requests: int = 100, **more: Any
) -> dict[str, Any]:
    """A valid point; ``stats`` gives the figures of the rounds of each metric."""
    stats: dict[str, Sequence[float | None]] = {
        "ttft_ms": spread(400.0),
        "tpot_ms": spread(25.0),
        "output_tps": spread(150.0),
        "decode_tps": spread(40.0),
        **more.pop("stats", {}),
    }
    rounds = max(map(len, stats.values()))
    return {
        "id": f"{case}/chat/{target}/n{users}",
        "case": case,
        "target": target,
        "via": "gateway" if target.startswith("gateway") else "direct",
        "deployment": "main",
        "endpoint": "chat",
        "stream": True,
        "load": {"model": "closed", "n": users, "requests": 12, "min_s": 10.0},
        "rounds": [_round(number) for number in range(rounds + 1)],
        "summary": {
            "error_rate": {"value": failed / requests, "null_reason": ""},
            "e2el_ms": {"n": requests - failed},
            "prompt_tokens": {"mean": 128.0},
        },
        "errors": {"http_5xx": failed} if failed else {},
        "error_samples": [],
        "valid": True,
        "invalid_reasons": [],
        "token_source": "usage",
        **more,
        "stats": {metric: over_rounds(values) for metric, values in stats.items()},
    }


def _round(number: int) -> dict[str, Any]:
    """A finished round; the first one warms up."""
    return {
        "id": f"{number:04}",
        "round": number,
        "warmup": number == 0,
        "skipped": "",
        "began": 1000.0,
        "seconds": 10.0,
        "valid": True,
    }


def deployment(**more: Any) -> dict[str, Any]:
    """One replica on one host."""
    return {
        "id": "main",
        "engine": "vllm",
        "version": "0.11.2",
        "model": "org/model",
        "revision": "abc",
        "quant": "nvfp4",
        "max_model_len": 32768,
        "tensor_parallel_size": 1,
        "pipeline_parallel_size": 1,
        "nnodes": 1,
        "replicas": [{"name": "main-0", "hosts": ["spark1"]}],
        **more,
    }


def result(*points: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A result as it is written, as far as it is read here."""
    names = dict.fromkeys(one["case"] for one in points)
    return {
        "schema": "spark_bench/1",
        "tool": {"name": "dgxspark.serving", "version": "0.1.0", "transport": "epoll", "self_test": None},
        "run": {
            "id": "20261130T101500Z-standard",
            "label": "",
            "suite": "standard",
            "started": "2026-11-30T10:15:00Z",
            "ended": "2026-11-30T10:45:00Z",
            "seed": 1,
            "argv_digest": "sha256:0",
            "interrupted": False,
        },
        "hosts": {"spark1": {"power_mode": "normal"}},
        "targets": [],
        "deployments": [deployment()],
        "cases": [
            {"name": name, "digest": f"sha256:{name}", "output": {"mode": "fixed", "tokens": 128}} for name in names
        ],
        "points": list(points),
        "pairs": [],
        "snapshots": {},
        "findings": [],
        "decision": None,
        "comparison": None,
        "requests_file": "requests.jsonl.gz",
        **more,
    }
