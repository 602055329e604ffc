# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An example of a benchmark's rounds, snapshots and verdicts, made from a seed: what the golden files show.

It holds each thing that a report must cope with: two targets, a ladder of users, requests that failed, a point that is
not valid, an open load, a host whose GPU is idle, figures that are not known, and text that looks like HTML.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.summary import round_summary

STARTED = 1796033700
GIB = 1024**3
CASES = (
    {
        "name": "short.en",
        "language": "en",
        "description": "A short question",
        "digest": "sha256:6f1b0e1d" + "0" * 56,
        "prompt_tokens": 64,
        "output": {"mode": "fixed", "tokens": 24},
        "cache": "cold",
        "messages": [{"role": "user", "content": "What is <b>unified memory</b>?"}],
        "max_share_cached": 0.01,
    },
    {
        "name": "reasoning.zh",
        "language": "zh",
        "description": "\u4e00\u9053\u9700\u8981\u601d\u8003\u7684\u9898",
        "digest": "sha256:9a77c2e4" + "0" * 56,
        "prompt_tokens": None,
        "output": {"mode": "natural", "tokens": 48},
        "cache": "cold",
        "messages": [{"role": "user", "content": "\u4e09\u4e2a\u7bb1\u5b50\u91cc\u5404\u6709\u591a\u5c11\u7403\uff1f"}],
        "max_share_cached": 0.01,
    },
)
TARGETS = (
    {
        "name": "main-0",
        "url": "http://192.0.2.11:8000",
        "via": "direct",
        "served_model_name": "qwen",
        "key_file": "/etc/dgxspark/serving/main.key",
        "verify_tls": True,
        "ca_file": "",
        "replica": "main-0",
        "hosts": ["spark1", "spark2"],
        "deployment": "main",
        "engines": [
            {"replica": "main-0", "url": "http://192.0.2.11:8000", "key_file": "/etc/dgxspark/serving/main.key"}
        ],
    },
    {
        "name": "gateway",
        "url": "https://bench:do-not-show-me@spark1.example:8443",
        "via": "gateway",
        "served_model_name": "qwen",
        "key_file": "/etc/dgxspark/serving/gateway.key",
        "verify_tls": True,
        "ca_file": "/etc/dgxspark/serving/ca.pem",
        "replica": "",
        "hosts": ["spark1", "spark2"],
        "deployment": "main",
        "engines": [
            {"replica": "main-0", "url": "http://192.0.2.11:8000", "key_file": "/etc/dgxspark/serving/main.key"}
        ],
    },
)
DEPLOYMENTS = (
    {
        "id": "main",
        "engine": "vllm",
        "version": "0.33.0",
        "image": "vllm/vllm-openai:v0.33.0",
        "image_digest": "sha256:1f2e3d4c5b6a" + "0" * 52,
        "model": "Qwen/Qwen3-30B-A3B",
        "revision": "ad44e777bcd18fa416d9da3bd8f70d33ebb85d39",
        "manifest_digest": None,
        "quant": "fp8",
        "kv_dtype": "auto",
        "tensor_parallel_size": 2,
        "pipeline_parallel_size": 1,
        "nnodes": 2,
        "executor": "mp",
        "max_model_len": 32768,
        "max_num_seqs": 16,
        "gpu_memory_utilization": 0.8,
        "argv": ["vllm", "serve", "/model", "--api-key", "do-not-show-me", "--max-num-seqs", "16"],
        "env": {"NCCL_SOCKET_IFNAME": "enp1s0f0np0", "HF_TOKEN": "do-not-show-me"},
        "spec_digest": "sha256:7c7c7c7c" + "0" * 56,
        "replicas": [{"name": "main-0", "hosts": ["spark1", "spark2"]}],
        "gateway": {"provider": "nginx", "version": "1.28.0"},
    },
)
ENVS = {
    host: {
        "os": "DGX OS 7.3.1",
        "kernel": "6.14.0-1013-nvidia",
        "driver": "580.142",
        "cuda": "13.0",
        "python": "3.12.3",
        "power_mode": None,
        "clocks": None,
        "mem_total": 128_000_000_000,
        "page_size": 4096,
        "swap": 0,
        "cpus": 20,
        "nic": [{"name": "enp1s0f0np0", "speed_mbps": 200000, "mtu": 9000}],
        "time_offset_ms": offset,
    }
    for host, offset in (("spark1", 0.4), ("spark2", None))
}
# users, milliseconds to the first token, milliseconds for each further one
CLOSED = ((1, 90.0, 20.0), (2, 110.0, 22.0), (4, 150.0, 26.0), (8, 260.0, 36.0))


class Example:
    """The order and its rounds, as they came from a client."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.clock = STARTED + 12.0
        self.number = 0
        self.rounds: list[dict[str, Any]] = []
        for target in TARGETS:
            slower = 1.06 if target["via"] == "gateway" else 1.0
            for users, first, gap in CLOSED if target["via"] == "direct" else (CLOSED[0], CLOSED[3]):
                load = {"model": "closed", "n": users, "requests": 3 * users, "min_s": 0.5}
                self._point("short.en", target["name"], load, first * slower, gap)
        self._point("reasoning.zh", "gateway", {"model": "open", "rate": 2.5, "share": 0.5, "requests": 6}, 140.0, 24.0)
        self._point("reasoning.zh", "main-0", {"model": "closed", "n": 4, "requests": 8, "min_s": 0.5}, 150.0, 26.0)

    def order(self) -> dict[str, Any]:
        """As the module ``benchmark`` is given it."""
        keys = ("id", "point", "case", "target", "endpoint", "stream", "load", "round", "warmup", "block", "ladder")
        return {
            "run": {
                "id": "20261130T101500Z-standard-main",
                "label": "new <driver>",
                "suite": "standard",
                "seed": 1,
                "nonce": "00112233445566778899aabbccddeeff",
            },
            "targets": [dict(target) for target in TARGETS],
            "cases": [dict(case) for case in CASES],
            "rounds": [{key: one[key] for key in keys} for one in self.rounds],
            "limits": {"connect_s": 10, "ttft_s": 300, "idle_s": 120, "total_s": 1800},
            "goodput": {"ttft_ms": 200.0, "tpot_ms": 30.0, "e2el_ms": None},
            "proxy": "",
        }

    def _point(self, case: str, target: str, load: dict[str, Any], first: float, gap: float) -> None:
        name = f"n{load['n']}" if load["model"] == "closed" else "open"
        for number in range(4):
            via = "gateway" if target == "gateway" else "direct"
            spec = {
                "id": f"{len(self.rounds) + 1:04d}",
                "point": f"{case}/chat/{via}:{target}/{name}",
                "case": case,
                "target": target,
                "endpoint": "chat",
                "stream": True,
                "load": load,
                "round": number,
                "warmup": number == 0,
                "block": "",
                "ladder": "standard" if load["model"] == "closed" else "",
            }
            self.rounds.append(self._round(spec, first * (1.6 if number == 0 else 1.0), gap))

    def _round(self, spec: dict[str, Any], first: float, gap: float) -> dict[str, Any]:
        drift = self.random.gauss(1.0, 0.015)
        users = spec["load"].get("n") or 2
        records = list(self._requests(spec, users, first * drift, gap * drift))
        seconds = max(record["t_end"] for record in records) + 0.05
        steady = {"t0": 0.2, "t1": round(seconds * 0.8, 3)} if spec["load"]["model"] == "closed" else None
        queries = sum(record["tokens"]["prompt"] or 0 for record in records)
        slow_client = spec["case"] == "reasoning.zh" and spec["target"] == "main-0" and spec["round"] == 2
        why = ["The client's loop was late by 3.4 ms in 1 of 100 turns (at most 2 ms): its times are not true."]
        server = {
            "prefix_queries": queries,
            "prefix_hits": 0,
            "spec_drafted": None,
            "spec_accepted": None,
            "preemptions": 0,
            "prompt_tokens": queries,
            "generation_tokens": sum(record["tokens"]["completion"] or 0 for record in records),
            "kv_usage_max": round(0.02 * users, 3),
            "waiting_max": 0,
            "running_max": users,
            "ttft_ms_mean": round(first * 0.97, 3),
            "queue_ms_mean": 0.4,
        }
        found = {
            **spec,
            "began": round(self.clock, 3),
            "seconds": round(seconds, 3),
            "steady": steady,
            "requests": records,
            "concurrency": {"mean": round(users * 0.96, 3), "peak": users},
            "server": server,
            "client": {
                "cpu_s": round(0.0004 * len(records), 4),
                "rss_mb": 27.5,
                "lag_ms": {"p50": 0.02, "p99": 3.4 if slow_client else 0.2, "max": 5.1 if slow_client else 0.4},
                "address": "192.0.2.11",
                "connections": users,
                "host": "spark1",
            },
            "valid": not slow_client,
            "invalid_reasons": why if slow_client else [],
            "skipped": "",
        }
        found.update(round_summary(spec, records, steady, self.order()["goodput"], server))
        self.clock += seconds + 0.4
        return found

    def _requests(self, spec: dict[str, Any], users: int, first: float, gap: float) -> Iterator[dict[str, Any]]:
        is_open = spec["load"]["model"] == "open"
        free = [0.001 * user for user in range(users)]
        for number in range(spec["load"]["requests"]):
            user = number % users
            start = number / spec["load"]["rate"] if is_open else free[user]
            record = self._request(spec, number, user, start, first, gap)
            if is_open:
                record.update(t_sched=round(start, 6), t_write=round(start + 0.0012, 6))
            free[user] = record["t_end"] + 0.001
            yield record

    def _request(
        self, spec: dict[str, Any], number: int, user: int, start: float, first: float, gap: float
    ) -> dict[str, Any]:
        self.number += 1
        wait = first * self.random.uniform(0.9, 1.25)
        gaps = [round(gap * self.random.uniform(0.95, 1.05), 3) for _token in range(23)]
        error = self._error(spec, number)
        last = wait + sum(gaps)
        fixed = spec["case"] == "short.en"
        return {
            "id": self.number,
            "user": user,
            "measured": True,
            "t_sched": None,
            "t_write": round(start, 6),
            "t_first": round(start + wait / 1000, 6),
            "t_last": round(start + last / 1000, 6),
            "t_end": round(start + (last + 0.4) / 1000, 6),
            "connect_ms": None,
            "ttfr_ms": round(wait - 1.5, 3),
            "ttft_ms": round(wait, 3),
            "ttfo_ms": round(wait if fixed else wait + sum(gaps[:12]), 3),
            "tpot_ms": round(sum(gaps) / len(gaps), 3),
            "e2el_ms": round(last, 3),
            "close_ms": round(last + 0.4, 3),
            "chunks": 24,
            "gaps_ms": gaps,
            "tokens": {"prompt": 66, "completion": 24, "reasoning": None if fixed else 12, "cached": 0},
            "first_chunk_tokens": 1,
            "token_source": "usage",
            "requested_tokens": 24 if fixed else None,
            "finish": "length" if fixed else "stop",
            "status": 200,
            "error": error,
            "text_chars": 96,
            "sample": "",
        }

    def _error(self, spec: dict[str, Any], number: int) -> dict[str, Any] | None:
        """The gateway's failures with eight users: a page of HTML, and the client's own timeout."""
        if spec["target"] != "gateway" or spec["load"].get("n") != 8 or spec["round"] != 2:
            return None
        if number in (3, 11):
            page = "<html><head><title>502 Bad Gateway</title></head><body><script>alert(1)</script>"
            return {"kind": "http_5xx", "status": 502, "message": page}
        if number == 7:
            said = "The client gave up: no token within 300 s, its own limit for TTFT."
            return {"kind": "timeout_ttft", "status": 200, "message": said}
        return None

    def snapshots(self) -> dict[str, Any]:
        """Of two hosts, once a second; the second one's GPU is idle and its power is not known."""
        return {host: self._seen(host) for host in ("spark1", "spark2")}

    def _seen(self, host: str) -> dict[str, Any]:
        idle = host == "spark2"
        dice = random.Random(host)
        count = int(self.clock - STARTED) + 8
        samples = []
        for second in range(count):
            busy = 12 <= second < count - 8
            moved = int(2.1e9 * max(second - 12, 0))
            samples.append(
                {
                    "t": STARTED + second + 0.25,
                    "mem": {
                        "total": 128_000_000_000,
                        "available": int((21.5 - (2.0 * dice.random() if busy else 0.0)) * GIB),
                        "cached": 9 * GIB,
                        "swap_used": 0,
                    },
                    "psi": {"memory_some": 0.0, "memory_full": 0.0, "cpu_some": 1.2, "io_some": 0.0},
                    "gpu": {
                        "util_pct": 0.0 if idle or not busy else round(dice.uniform(88, 97), 1),
                        "power_w": None if idle else round(dice.uniform(60, 75) if busy else 12.0, 1),
                        "temp_c": 41.0 if idle else 66.0,
                        "clock_mhz": 2411.0,
                        "memory_clock_mhz": None,
                    },
                    "containers": {"main-0-rank": {"cpu_s": round(0.9 * second, 2), "memory": 3 * GIB}},
                    "net": {"enp1s0f0np0": {"rx": 1000 * second, "tx": 900 * second}},
                    "rdma": {"rocep1s0f0": {"rx": moved, "tx": moved}},
                }
            )
        errors = ["nvidia-smi of spark2 said [N/A] for power.draw."] if idle else []
        return {
            "host": host,
            "interval_s": 1.0,
            "samples": samples,
            "cost": {"cpu_s": round(0.004 * count, 3), "seconds": float(count)},
            "errors": errors,
        }


def judged() -> dict[str, Any]:
    """Findings, pairs, a decision and a comparison with a word of each kind."""
    point = {"case": "short.en", "target": "gateway"}
    rows = [
        {
            **point,
            "n": 1,
            "metric": "tpot_ms",
            "baseline": 20.1,
            "candidate": 20.2,
            "ratio": 1.005,
            "ci95": [0.991, 1.02],
        }
        | {"verdict": "no change", "needed_rounds": None},
        {
            **point,
            "n": 8,
            "metric": "output_tps",
            "baseline": 205.0,
            "candidate": 168.0,
            "ratio": 0.82,
            "ci95": [0.79, 0.85],
        }
        | {"verdict": "regression", "needed_rounds": None},
        {
            **point,
            "n": 8,
            "metric": "ttft_ms",
            "baseline": 301.0,
            "candidate": 282.0,
            "ratio": 0.937,
            "ci95": [0.86, 1.02],
        }
        | {"verdict": "inconclusive", "needed_rounds": 9},
        {
            **point,
            "n": 4,
            "metric": "ttft_ms",
            "baseline": 205.0,
            "candidate": 161.0,
            "ratio": 0.785,
            "ci95": [0.75, 0.82],
        }
        | {"verdict": "improvement", "needed_rounds": None},
        {**point, "n": 8, "metric": "error_rate", "baseline": 0.0, "candidate": 0.0417, "ratio": None, "ci95": None}
        | {"verdict": "regression", "needed_rounds": None},
    ]
    pair = {"name": "gateway / direct", "a": "gateway", "b": "main-0", "case": "short.en"}
    return {
        "pairs": [
            {**pair, "load": {"model": "closed", "n": 1}, "metric": "ttft_ms", "ratio": 1.06, "ci95": [1.04, 1.08]}
            | {"verdict": "no difference", "note": ""},
            {**pair, "load": {"model": "closed", "n": 8}, "metric": "output_tps", "ratio": 0.93, "ci95": [0.88, 0.98]}
            | {"verdict": "worse", "note": ""},
            {**pair, "load": {"model": "closed", "n": 8}, "metric": "tpot_ms", "ratio": None, "ci95": None}
            | {"verdict": "inconclusive", "note": "gateway has no valid round."},
        ],
        "findings": [
            {"code": "spec-decode-off", "severity": "info", "text": "The engine drafts no tokens."},
            {
                "code": "idle-rank",
                "severity": "error",
                "text": "spark2, rank 1 of main-0: its GPU was idle (median 0 %) while spark1 worked (93 %). "
                "Wanted: both busy. Look at the log of rank 1 with the playbook diagnose.",
            },
        ],
        "decision": {
            "rule": ["A layout is better where the whole interval of the ratio lies beyond the margin of 5 %."],
            "rows": [
                {"aspect": "throughput, 8 users", "tp1x2": 410.0, "tp2": 205.0, "unit": "tok/s", "better": "tp1x2"},
                {"aspect": "speed for one user", "tp1x2": 38.2, "tp2": 49.7, "unit": "tok/s", "better": "tp2"},
                {"aspect": "least memory available", "tp1x2": None, "tp2": 19.5, "unit": "GiB", "better": "not known"},
            ],
            "fits": [
                {"use": "chat for one", "choice": "tp2", "why": "49.7 tok/s against 38.2."},
                {"use": "many users", "choice": "tp1x2", "why": "410 tok/s against 205."},
                {"use": "long prompts", "choice": "cannot be said", "why": "No long case was measured."},
            ],
        },
        "comparison": {
            "baseline": {
                "run id": "20261101T080000Z-standard-main",
                "started": "2026-11-01T08:00:00Z",
                "label": "before",
            },
            "margins": {"ttft_ms": 0.1, "tpot_ms": 0.05, "output_tps": 0.05, "ttft_least_ms": 20.0},
            "rows": rows,
            "guard": {
                "differences": [
                    {"key": "engine_version", "where": "main", "baseline": "0.32.1", "candidate": "0.33.0"}
                ],
                "overridden": True,
            },
            "verdict": "regression",
            "exit_code": 1,
        },
    }
