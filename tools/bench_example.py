# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An example of a benchmark's rounds, snapshots and verdicts, made from a seed: what the golden files show.

It holds each thing that a report must cope with: two targets, a ladder of users, requests that failed, a point that is
not valid, an open load, points that differ in their endpoint, their stream or their part alone, a host whose GPU is
idle, figures that are not known, and text that looks like HTML. What is judged of it the real functions judge.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client import failures, lag
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.intervals import over_rounds
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.summary import round_summary
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import gpu_stream

STARTED = 1796033700
GIB = 1024**3
CASES = (
    {
        "name": "short-en",
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
        "name": "reasoning-zh",
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
SELF_TEST = {
    "host": "spark1",
    "streams": 8,
    "gap_ms": 10.0,
    "tokens": 528,
    "ttft_err_pct": 0.61,
    "itl_p99_err_pct": 1.12,
    "tpot_err_pct": -0.01,
    "threads_tpot_diff_pct": -0.08,
    "valid": True,
    "seconds": 1.53,
    "error": None,
}
# What a second source said of two points: it agrees at the first one.
SECOND = {
    "host": "spark1",
    "program": "/usr/local/lib/python3.12/dist-packages/vllm/vllm-rs",
    "version": "0.33.0",
    "asked": [
        {
            "point": f"short-en/chat/direct:main-0/n{users}",
            "figures": {"ttft_ms": ttft, "tpot_ms": tpot, "e2el_ms": e2el, "output_tps": speed}
            | {"requests": 8 * users, "failed": 0, "prompt_tokens": 66.0, "message": ""},
        }
        for users, ttft, tpot, e2el, speed in ((1, 93.4, 20.07, 555.0, 43.2), (8, 331.0, 41.2, 1279.0, 149.0))
    ],
    "notes": [],
}
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
# The older run by this one, and TP=2 by TP=1 twice, where they differ.
BEFORE: Mapping[str, Mapping[str, float]] = {
    "short-en/chat/gateway:gateway/n1": {},
    "short-en/chat/gateway:gateway/n8": {"output_tps": 1.5, "ttft_ms": 1 / 1.09},
    "short-en/chat/gateway:gateway/n8/ladder": {},
    "short-en/completions/gateway:gateway/n1": {"tpot_ms": 1.06},
    "reasoning-zh/chat/gateway:gateway/open0.5": {"tpot_ms": 0.8},
}
TP2_BY_TP1 = {"decode_tps": 1.35, "tpot_ms": 1 / 1.35, "ttft_ms": 0.7, "output_tps": 0.62}


def _closed(users: int) -> dict[str, Any]:
    return {"model": "closed", "n": users, "requests": 3 * users, "min_s": 0.5}


class Example:
    """The order and its rounds, as they came from a client."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.clock = STARTED + 12.0
        self.number = 0
        self.rounds: list[dict[str, Any]] = []
        for target in TARGETS:
            through = target["via"] == "gateway"
            for users, first, gap in (CLOSED[0], CLOSED[3]) if through else CLOSED:
                self._point("short-en", target["name"], _closed(users), first * (1.06 if through else 1.0), gap)
        for target, gap in (("main-0", 20.0), ("gateway", 22.0)):
            self._point("short-en", target, _closed(1), 92.0, gap, endpoint="completions")
        self._point("short-en", "gateway", _closed(1), 95.0, 20.0, stream=False)
        self._point("short-en", "gateway", _closed(8), 270.0, 36.0, tag="/ladder")
        self._point("reasoning-zh", "gateway", {"model": "open", "rate": 2.5, "share": 0.5, "requests": 6}, 140.0, 24.0)
        self._point("reasoning-zh", "main-0", {**_closed(4), "requests": 8}, 150.0, 26.0)

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
            "client_lag": {},
            "proxy": "",
        }

    def _point(
        self,
        case: str,
        target: str,
        load: dict[str, Any],
        first: float,
        gap: float,
        endpoint: str = "chat",
        stream: bool = True,
        tag: str = "",
    ) -> None:
        name = f"n{load['n']}" if load["model"] == "closed" else f"open{load['share']:g}"
        name += tag + ("" if stream else "/whole")
        # A step of a ladder is one round.
        for number in range(2 if tag else 4):
            via = "gateway" if target == "gateway" else "direct"
            spec = {
                "id": f"{len(self.rounds) + 1:04d}",
                "point": f"{case}/{endpoint}/{via}:{target}/{name}",
                "case": case,
                "target": target,
                "endpoint": endpoint,
                "stream": stream,
                "load": load,
                "round": number,
                "warmup": number == 0,
                "block": "",
                "ladder": f"{case}/{endpoint}/{via}:{target}" if tag or load["model"] == "open" else "",
            }
            self.rounds.append(self._round(spec, first * (1.6 if number == 0 else 1.0), gap))

    def _round(self, spec: dict[str, Any], first: float, gap: float) -> dict[str, Any]:
        drift = self.random.gauss(1.0, 0.005)
        users = spec["load"].get("n") or 2
        records = list(self._requests(spec, users, first * drift, gap * drift))
        seconds = max(record["t_end"] for record in records) + 0.05
        steady = {"t0": 0.2, "t1": round(seconds * 0.8, 3)} if spec["load"]["model"] == "closed" else None
        queries = sum(record["tokens"]["prompt"] or 0 for record in records)
        slow_client = spec["case"] == "reasoning-zh" and spec["target"] == "main-0" and spec["round"] == 2
        late = {"p50": 0.02, "p99": 3.4 if slow_client else 0.2, "max": 5.1 if slow_client else 0.4}
        valid, why = lag.validity(late, gap)
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
                "lag_ms": late,
                "address": "192.0.2.11",
                "connections": users,
                "host": "spark1",
            },
            "valid": valid,
            "invalid_reasons": why,
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
        wait = first * self.random.uniform(0.97, 1.04)
        gaps = [round(gap * self.random.uniform(0.95, 1.05), 3) for _token in range(23)]
        error = self._error(spec, number)
        streamed = spec["stream"]
        last = wait + sum(gaps)
        fixed = spec["case"] == "short-en"
        return {
            "id": self.number,
            "user": user,
            "measured": True,
            "t_sched": None,
            "t_write": round(start, 6),
            "t_first": round(start + wait / 1000, 6) if streamed else None,
            "t_last": round(start + last / 1000, 6),
            "t_end": round(start + (last + 0.4) / 1000, 6),
            "connect_ms": None,
            "ttfr_ms": round(wait - 1.5, 3) if streamed else None,
            "ttft_ms": round(wait, 3) if streamed else None,
            "ttfo_ms": round(wait if fixed else wait + sum(gaps[:12]), 3) if streamed else None,
            "tpot_ms": round(sum(gaps) / len(gaps), 3) if streamed else None,
            "e2el_ms": round(last, 3),
            "close_ms": 0.4 if streamed else None,
            "chunks": 24 if streamed else 0,
            "gaps_ms": gaps if streamed else [],
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
        if spec["point"] != "short-en/chat/gateway:gateway/n8" or spec["round"] != 2:
            return None
        if number in (3, 11):
            page = "HTTP 502: <html><head><title>502 Bad Gateway</title></head><body><script>alert(1)</script>"
            return {"kind": "http_5xx", "status": 502, "message": page}
        if number == 7:
            return {"kind": "timeout_ttft", "status": None, "message": failures.waited(failures.TIMEOUT_TTFT, 300.0)}
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
                        "throttle": None if idle else _held(busy, second),
                    },
                    "containers": {
                        f"dgxspark-main-0-r{int(idle)}": {"cpu_s": round(0.9 * second, 2), "memory": 3 * GIB}
                    },
                    "net": {"enp1s0f0np0": {"rx": 1000 * second, "tx": 900 * second}},
                    "rdma": {"rocep1s0f0": {"rx": moved, "tx": moved}},
                }
            )
        errors = [f"nvidia-smi has said nothing for {gpu_stream.HUNG:.0f} s: nothing more is known of the GPU."] * idle
        return {
            "host": host,
            "interval_s": 1.0,
            "samples": samples,
            "cost": {"cpu_s": round(0.004 * count, 3), "seconds": float(count)},
            "errors": errors,
            "clock_offset_s": 0.004 if idle else 0.0,
            **_standing(idle),
        }


def _held(busy: bool, second: int) -> list[str]:
    """Why the clock of a GPU was held down in a second: at work now and then by its power cap."""
    if not busy:
        return ["gpu_idle"]
    return ["sw_power_cap"] if second % 8 == 0 else []


def _standing(idle: bool) -> dict[str, Any]:
    """What was so before and after the run."""
    processes = None if idle else [{"pid": 4242, "name": "VLLM::Worker", "memory_mib": None}]
    room = {"/home/spark/.cache/huggingface/hub": {"free": 2_100_000_000_000, "total": 3_700_000_000_000}}
    return {"gpu_processes": {"before": processes, "after": processes}, "disk": {"before": room, "after": room}}


def baseline(result: Mapping[str, Any]) -> dict[str, Any]:
    """An older run of some of the points of a result, for a verdict of each kind."""
    points = []
    for identity, factors in BEFORE.items():
        point = next(one for one in result["points"] if one["id"] == identity)
        points.append({**_scaled(point, factors), "errors": {}})
        points[-1]["summary"] = {**point["summary"], "error_rate": {"value": 0.0, "null_reason": ""}}
    run = {"id": "20261101T080000Z-standard-main", "started": "2026-11-01T08:00:00Z", "label": "before"}
    deployments = [{**DEPLOYMENTS[0], "version": "0.32.1"}]
    return {**result, "run": {**result["run"], **run, "client": "spark2"}, "points": points, "deployments": deployments}


def layouts(points: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Points of TP=1 twice and of TP=2, and their deployments, as a run of the suite layout has them."""
    one, two = ({**DEPLOYMENTS[0], "id": name} for name in ("tp1", "tp2"))
    one.update(
        tensor_parallel_size=1,
        replicas=[{"name": "main-0", "hosts": ["spark1"]}, {"name": "main-1", "hosts": ["spark2"]}],
    )
    own = [point for point in points if point["id"] in (f"short-en/chat/direct:main-0/n{users}" for users in (1, 8))]
    measured = [{**point, "deployment": "tp1", "via": "gateway"} for point in own]
    measured += [{**_scaled(point, TP2_BY_TP1), "deployment": "tp2"} for point in own]
    return measured, [one, two]


def _scaled(point: Mapping[str, Any], factors: Mapping[str, float]) -> dict[str, Any]:
    """The point with rounds whose figures are so many times as great."""
    stats = {
        metric: over_rounds([None if value is None else value * factors.get(metric, 1.0) for value in found["rounds"]])
        for metric, found in point["stats"].items()
    }
    return {**point, "stats": stats}
