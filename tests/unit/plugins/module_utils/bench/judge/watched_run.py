# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A healthy run of a replica on two hosts behind a gateway, watched for 60 seconds, for tests to spoil."""

from __future__ import annotations

from typing import Any

GIB = 1024**3
BEGAN, SECONDS = 1000.0, 60
HOSTS = ("spark1", "spark2")


def order() -> dict[str, Any]:
    """Two targets: the replica itself, and the gateway before it."""
    common = {"hosts": list(HOSTS), "deployment": "main"}
    return {
        "targets": [
            {"name": "main-0", "via": "direct", "replica": "main-0", **common},
            {"name": "gateway", "via": "gateway", "replica": "", **common},
        ],
        "cases": [{"name": "short-en", "cache": "cold", "max_share_cached": 0.01}],
    }


def round_of(target: str, began: float, seconds: float, **more: Any) -> dict[str, Any]:
    """A round without a fault."""
    scalars = {"error_rate": 0.0, "cache_hit_rate": 0.0, "merged_share": 0.01}
    return {
        "target": target,
        "case": "short-en",
        "warmup": False,
        "skipped": "",
        "began": began,
        "seconds": seconds,
        "summary": {name: {"value": value, "null_reason": ""} for name, value in scalars.items()},
        "errors": {},
        "error_samples": [],
        "server": {"preemptions": 0, "spec_drafted": None, "spec_accepted": None, "kv_usage_max": 0.4},
        "valid": True,
        "invalid_reasons": [],
        **more,
    }


def rounds() -> list[dict[str, Any]]:
    """A round of each target after a warm-up."""
    return [
        round_of("main-0", BEGAN - 20, 10.0, warmup=True, errors={"connect": 3}, valid=False),
        round_of("main-0", BEGAN, SECONDS / 2),
        round_of("gateway", BEGAN + SECONDS / 2, SECONDS / 2),
    ]


def sample(host: str, second: int) -> dict[str, Any]:
    """A sample of a host whose GPU works and whose data goes through both halves of one port."""
    sent = 1_000_000 * (second + 30)
    halves = {"rx": sent, "tx": sent}
    return {
        "t": BEGAN + second,
        "mem": {"total": 120 * GIB, "available": 20 * GIB, "cached": GIB, "swap_used": 0},
        "psi": {"memory_some": 0.5, "memory_full": 0.0, "cpu_some": 1.0, "io_some": 0.0},
        "gpu": {
            "util_pct": 96.0,
            "power_w": 61.0,
            "temp_c": 74.0,
            "clock_mhz": 2411.0,
            "memory_clock_mhz": None,
            "throttle": [],
        },
        "containers": {f"dgxspark-main-0-r{HOSTS.index(host)}": {"cpu_s": 50.0 + second, "memory": GIB}},
        "net": {"eth0": {"rx": second, "tx": second}},
        "rdma": {"rocep1s0f0": dict(halves), "roceP2p1s0f0": dict(halves)},
    }


def snapshots() -> dict[str, Any]:
    """What the samplers of both hosts return."""
    return {
        host: {
            "host": host,
            "interval_s": 1.0,
            "samples": [sample(host, second) for second in range(-30, SECONDS + 5)],
            "cost": {"cpu_s": 0.2, "seconds": 95.0},
            "errors": [],
        }
        for host in HOSTS
    }
