# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far an engine is by its log."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import engine_log
from ansible_collections.dgxspark.serving.plugins.module_utils.engine_log import Progress

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"


def log(name: str) -> list[str]:
    # Not splitlines(): a carriage return is part of a line of `docker logs`.
    # A progress bar overwrites itself; files of a repository have no carriage returns.
    return (LOGS / name).read_text("utf-8").replace("<CR>", "\r").split("\n")


@pytest.mark.parametrize(
    ("name", "until", "stage", "percent", "line"),
    [
        ("vllm-tp1.txt", "version 0.32.0", "", None, "▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.32.0"),
        ("vllm-tp1.txt", "distributed_init_method", "distributed", None, None),
        ("vllm-tp1.txt", "0% Completed | 0/10", "loading weights", 0, None),
        (
            "vllm-tp1.txt",
            "50% Completed",
            "loading weights",
            50,
            "Loading safetensors checkpoint shards:  50% Completed | 5/10 [00:24<00:24,  4.81s/it]",
        ),
        ("vllm-tp1.txt", "Loading weights took", "loading weights", 100, "Loading weights took 48.12 seconds"),
        ("vllm-tp1.txt", "Dynamo bytecode", "compiling", None, "Dynamo bytecode transform time: 5.21 s"),
        ("vllm-tp1.txt", "torch.compile took", "compiling", None, "torch.compile took 31.02 s in total"),
        ("vllm-tp1.txt", "GPU KV cache size", "profiling", None, "GPU KV cache size: 441,424 tokens"),
        (
            "vllm-tp1.txt",
            "Graph capturing finished",
            "graphs",
            100,
            "Graph capturing finished in 8 secs, took 0.61 GiB",
        ),
        ("vllm-tp1.txt", "GET /health", "ready", None, "Application startup complete."),
        ("vllm-tp2-roce.txt", "Using network IB", "distributed", None, None),
        ("vllm-tp2-roce.txt", "12% Completed", "loading weights", 12, None),
        ("sglang-tp2.txt", "server_args", "imports", None, None),
        ("sglang-tp2.txt", "torch distributed ends", "distributed", None, None),
        ("sglang-tp2.txt", "25% Completed", "loading weights", 25, None),
        ("sglang-tp2.txt", "KV Cache is allocated", "profiling", None, None),
        ("sglang-tp2.txt", "Capturing batches", "graphs", 50, None),
    ],
)
def test_progress(name: str, until: str, stage: str, percent: int | None, line: str | None) -> None:
    lines = log(name)
    end = next(index for index, text in enumerate(lines) if until in text)
    found = engine_log.progress(lines[: end + 1])
    assert (found.stage, found.percent) == (stage, percent)
    assert line in (None, found.line)


def test_a_bar_with_carriage_returns_counts_by_its_last_redraw() -> None:
    bars = [text for text in log("vllm-tp1.txt") if "Capturing" in text]
    assert len(bars) == 1
    assert engine_log.progress([bars[0].rpartition("\r")[0]]).percent == 43
    assert engine_log.progress(bars).percent == 100


def test_what_is_no_progress() -> None:
    assert engine_log.progress([]) == Progress()
    assert engine_log.progress(["", "^^^^^^^", '127.0.0.1 - "GET /health HTTP/1.1" 503']) == Progress()
    usage = "INFO 11-28 09:12:01 [loggers.py:1] Running: 0 reqs, GPU KV cache usage: 12.0%"
    assert engine_log.progress([usage]).percent is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(EngineCore pid=198) ERROR 08-03 09:26:14 [dump_input.py:79] Dumping", "Dumping"),
        ("(Worker_TP1 pid=3534) INFO 10-11 22:28:17 [a.py:6] hello", "hello"),
        ("(EngineCore pid=1) (RayWorkerProc pid=5, ip=192.0.2.12) INFO 10-11 22:28:17 [a.py:6] hello", "hello"),
        ("2026-11-28T10:01:12.123456789Z INFO:     Started", "Started"),
        ("[2026-11-28 10:01:12 TP0] Load weight begin.", "Load weight begin."),
        ("[rank0]: Traceback", "Traceback"),
        ("OSError: [Errno 98] Address already in use", "OSError: [Errno 98] Address already in use"),
        ("INFO", ""),
    ],
)
def test_bare(text: str, said: str) -> None:
    assert engine_log.bare(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "HF_TOKEN=hf_CANARY123 vllm serve",
        "using token hf_CANARY123.",
        "Authorization: Bearer CANARY123",
        "vllm serve m --api-key CANARY123 --port 1",
        "args: Namespace(api_key=['CANARY123'], host=None)",
        "non-default args: {'api_key': ['CANARY123'], 'port': 1}",
        "server_args=ServerArgs(api_key='CANARY123', port=1)",
    ],
)
def test_m15_a07_secrets_are_masked(text: str) -> None:
    shown = engine_log.masked(text)
    assert "CANARY" not in shown
    assert "***" in shown


def test_none_is_no_secret() -> None:
    assert engine_log.masked("api_key=None, 'api_key': None") == "api_key=None, 'api_key': None"


@pytest.mark.parametrize(
    ("lines", "network"),
    [
        ([], None),
        (["NCCL INFO Bootstrap: Using enp1s0f0np0"], None),
        (["spark1:61:61 [0] NCCL INFO Using network IB"], "IB"),
        (["log: NCCL INFO NET/IB : No device found.", "log: NCCL INFO Using network Socket"], "Socket"),
        (["NCCL INFO Using network Socket", "spark1:61:61 [0] NCCL INFO Using network IB"], "IB"),
    ],
)
def test_d11_network(lines: list[str], network: str | None) -> None:
    assert engine_log.nccl_network(lines) == network


@pytest.mark.parametrize(
    ("name", "ranks"), [("vllm-tp1.txt", 1), ("vllm-tp2-roce.txt", 2), ("sglang-tp2.txt", 2), ("symptoms.txt", None)]
)
def test_world_size(name: str, ranks: int | None) -> None:
    assert engine_log.world_size(log(name)) == ranks


def test_world_size_is_not_the_local_one() -> None:
    assert engine_log.world_size(["world_size=4, local_world_size=1"]) == 4
    assert engine_log.world_size(["server_args=ServerArgs(tp_size=2, pp_size=3, nnodes=6)"]) == 6
