# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The load that was reached, the engines' own account and the client's cost, over the rounds of a point."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import around
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import around_table, csv_long


def one_round(requests: int = 10, ttft: float | None = 120.0, warmup: bool = False, **more: Any) -> dict[str, Any]:
    server = {
        "ttft_ms_mean": 100.0,
        "queue_ms_mean": 5.0,
        "kv_usage_max": None,
        "waiting_max": None,
        "preemptions": 1.0,
        "generation_tokens": 640.0,
        "foreign_tokens": 0,
    }
    return {
        "warmup": warmup,
        "skipped": "",
        "seconds": 10.0,
        "concurrency": {"mean": 3.8, "peak": 4},
        "server": {**server, **more.pop("server", {})},
        "client": {
            "cpu_s": 0.02,
            "rss_mb": 30.0,
            "lag_ms": {"p50": 0.01, "p99": 0.2, "max": 0.9},
            "address": "192.0.2.1:8000",
        },
        "summary": {
            "e2el_ms": {"n": requests},
            "ttft_ms": {"mean": ttft},
            "completion_tokens": {"n": requests, "mean": 64.0},
        },
        **more,
    }


def found(*rounds: dict[str, Any]) -> dict[tuple[str, str], float | None]:
    return around.figures({"rounds": list(rounds)})


def test_rounds_count_by_their_requests_and_their_seconds() -> None:
    warm = one_round(warmup=True, server={"kv_usage_max": 0.31, "waiting_max": 2.0})
    long = one_round(30, 160.0, seconds=30.0, concurrency={"mean": 3.0, "peak": 5}, server={"ttft_ms_mean": 120.0})
    figures = found(warm, one_round(), long)
    assert set(figures) == {(name, stat) for name, _unit, stat in around.FIGURES}
    assert figures["concurrency", "mean"] == pytest.approx((3.8 * 10 + 3.0 * 30) / 40)
    assert figures["concurrency", "peak"] == 5
    assert figures["server_ttft_ms", "mean"] == pytest.approx(115.0)
    assert figures["client_minus_server_ttft_ms", "mean"] == pytest.approx((20 * 10 + 40 * 30) / 40)
    assert figures["server_queue_ms", "mean"] == 5.0
    assert (figures["server_kv_usage", "max"], figures["server_waiting", "max"]) == (0.31, 2.0)
    assert (figures["server_preemptions", "sum"], figures["server_generation_tokens", "sum"]) == (2.0, 1280.0)
    assert figures["client_cpu_s_per_1000_tokens", "mean"] == pytest.approx(0.04 / (40 * 64) * 1000)
    assert figures["client_lag_ms", "p99"] == 0.2


def test_what_is_not_known_of_one_round_is_not_known() -> None:
    silent = found(one_round(), one_round(server={"ttft_ms_mean": None, "queue_ms_mean": None, "preemptions": None}))
    keys = [("server_ttft_ms", "mean"), ("server_queue_ms", "mean"), ("server_preemptions", "sum")]
    assert [silent[key] for key in [*keys, ("client_minus_server_ttft_ms", "mean")]] == [None] * 4
    whole = found(one_round(ttft=None))
    assert (whole["client_minus_server_ttft_ms", "mean"], whole["server_ttft_ms", "mean"]) == (None, 100.0)
    assert found(one_round(server={"foreign_tokens": 7}))["client_minus_server_ttft_ms", "mean"] is None


def test_a_round_in_which_all_failed_has_no_weight_and_nothing_at_all_is_nothing() -> None:
    dead = one_round(0, None, server={"ttft_ms_mean": None, "queue_ms_mean": None})
    assert found(one_round(), dead)["client_minus_server_ttft_ms", "mean"] == pytest.approx(20.0)
    assert set(found().values()) == {None}
    assert set(found({"id": "1", "valid": True}).values()) == {None}


def test_b21_they_stand_in_the_table_and_in_the_csv() -> None:
    point = {
        "id": "short-en/chat/gateway/n4",
        "case": "short-en",
        "target": "gateway",
        "deployment": "main",
        "endpoint": "chat",
        "stream": True,
        "load": {"model": "closed", "n": 4},
        "valid": True,
        "summary": {},
        "stats": {},
        "errors": {},
        "rounds": [one_round(warmup=True, server={"kv_usage_max": 0.31}), one_round()],
    }
    (row,) = around_table.rows([point])
    cells = dict(zip(around_table.HEAD, row, strict=True))
    assert (cells["at once (peak)"].text, cells["at once (peak)"].more) == ("3.80", "4")
    texts = {name: cell.text for name, cell in cells.items()}
    assert texts["client \u2212 engine (ms)"] == "20.0"
    assert (texts["KV cache at most"], texts["client CPU (s/1,000 tok)"]) == ("31.0 %", "0.0312")
    assert texts["address"] == "192.0.2.1:8000"
    lines = csv_long.text({"run": {"id": "r"}, "points": [point]}).splitlines()
    assert "r,short-en,gateway,4,server_queue_ms,mean,5.0,ms,short-en/chat/gateway/n4,main,chat,closed,true" in lines
    assert any(",concurrency,peak,4,requests," in line for line in lines)
    assert around_table.rows([{**point, "rounds": [{"id": "1"}]}]) == []
