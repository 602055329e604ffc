# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rounds, records and an order as the tests of a run need them."""

from __future__ import annotations

from typing import Any

CASE = {
    "name": "short.en",
    "language": "en",
    "description": "",
    "digest": "sha256:0",
    "prompt_tokens": None,
    "output": {"mode": "fixed", "tokens": 8},
    "cache": "cold",
    "prompts": ["Name a river.", "Name a hill."],
    "shared_prefix": False,
    "max_share_cached": 0.01,
}


def spec(round_id: str = "0001", **more: Any) -> dict[str, Any]:
    """A round as it is ordered."""
    load = more.pop("load", {"model": "closed", "n": 4, "requests": 12, "min_s": 0.0})
    return {
        "id": round_id,
        "point": "short.en/chat/gateway/n4",
        "case": "short.en",
        "target": "gateway",
        "endpoint": "chat",
        "stream": True,
        "load": load,
        "round": 1,
        "warmup": False,
        "block": "",
        "ladder": "",
        **more,
    }


def scalar(value: float | None) -> dict[str, Any]:
    return {"value": value, "null_reason": "" if value is not None else "nobody knows"}


def played(
    one: dict[str, Any],
    tokens: float | None = 40.0,
    rate: float | None = 2.0,
    first: float | None = 100.0,
    succeeded: int = 12,
    **more: Any,
) -> dict[str, Any]:
    """What is known of a round after it was played."""
    return {
        **one,
        "seconds": 10.0,
        "errors": {} if succeeded else {"connect": 3},
        "error_samples": [] if succeeded else [{"kind": "connect", "message": "no connection", "ids": [1]}],
        "skipped": "",
        "skip_kind": "",
        "valid": True,
        "summary": {
            "output_tps": scalar(tokens),
            "output_tps_steady": scalar(None),
            "request_rate": scalar(rate),
            "ttft_ms": {"n": 12, "p50": first, "p95": None},
        },
        "succeeded": succeeded,
        **more,
    }


def step(users: int, tokens: float | None, **more: Any) -> dict[str, Any]:
    """A played step of a ladder."""
    load = {"model": "closed", "n": users, "requests": 3 * users, "min_s": 0.0}
    known = {key: more.pop(key) for key in ("rate", "first", "succeeded", "skipped") if key in more}
    return played(spec(f"l{users:03}", load=load, ladder="knee", **more), tokens, **known)


def order(url: str = "http://127.0.0.1:1", **more: Any) -> dict[str, Any]:
    """An order of one round against one target."""
    return {
        "run": {"id": "20261130T101500Z-quick", "label": "", "suite": "quick", "seed": 1, "nonce": "0123456789abcdef"},
        "targets": [
            {
                "name": "gateway",
                "url": url,
                "via": "gateway",
                "served_model_name": "tiny-chat",
                "key_file": "",
                "verify_tls": True,
                "ca_file": "",
                "replica": "",
                "hosts": ["s1"],
                "deployment": "tp1",
                "engines": [{"replica": "main-0", "url": url, "key_file": ""}],
            }
        ],
        "cases": [CASE],
        "rounds": [spec()],
        "limits": {"connect_s": 5, "ttft_s": 30, "idle_s": 30, "total_s": 60},
        "goodput": {"ttft_ms": None, "tpot_ms": None, "e2el_ms": None},
        "proxy": "",
        **more,
    }
