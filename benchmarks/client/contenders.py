# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is compared: the command line of each tool, and where its figures are in what it writes.

A figure that a tool does not have is None. "decode" is what the tool calls TPOT (guidellm: inter-token latency, aiperf:
inter-token latency, llama-benchy: one over its tokens per second and user); its aggregate has no TTFT in it for
llama-benchy, by definition.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.client import tools
from benchmarks.gateway.engine import MODEL
from lab.engines.engine import DENSE, tiny_models

OURS = "ours"
HUB_NAME = f"lab/{DENSE}"
REVISION = "0" * 40
PROMPT_TOKENS = 64


@dataclass(frozen=True)
class Job:
    """One measurement: where, how many users at once, how many requests of how many tokens, and where files go."""

    url: str
    users: int
    requests: int
    tokens: int
    folder: Path
    model: str = MODEL
    # How many tokens each chunk has: only ours asks, and only where several are known to come.
    continuous_usage: bool = False


@dataclass(frozen=True)
class Figures:
    """What a tool says it found."""

    ttft_ms: float | None = None
    decode_ms: float | None = None
    output_tps: float | None = None
    itl_p99_ms: float | None = None
    ok: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A tool."""

    name: str
    command: Callable[[Job], list[str]]
    read: Callable[[Job], Figures]
    environment: Mapping[str, str] = field(default_factory=dict)


def tokenizer() -> str:
    """The folder of the tokenizer that all tools get."""
    return str(tiny_models()[DENSE])


def hub_cache(folder: Path) -> Path:
    """Make a cache of the Hugging Face hub with that tokenizer in it, for tools that take no folder."""
    repository = folder / "hub" / f"models--{HUB_NAME.replace('/', '--')}"
    snapshot = repository / "snapshots" / REVISION
    snapshot.parent.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(REVISION, encoding="utf-8")
    snapshot.symlink_to(tokenizer())
    return folder


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _ours(job: Job) -> list[str]:
    sizes = (f"--users={job.users}", f"--requests={job.requests}", f"--tokens={job.tokens}", f"--model={job.model}")
    more = ("--continuous-usage",) if job.continuous_usage else ()
    out = f"--out={job.folder / 'ours.json'}"
    return [sys.executable, "-m", "benchmarks.client.ours", job.url, *sizes, *more, out]


def _read_ours(job: Job) -> Figures:
    found = _load(job.folder / "ours.json")
    names = ("ttft_ms", "decode_ms", "output_tps", "itl_p99_ms", "ok")
    return Figures(*(found.pop(name) for name in names), more=found)


def _vllm(name: str) -> Callable[[Job], list[str]]:
    def command(job: Job) -> list[str]:
        where = ["--backend=openai-chat", "--endpoint=/v1/chat/completions", f"--base-url={job.url}"]
        what = [f"--model={job.model}", f"--tokenizer={tokenizer()}", "--dataset-name=random", "--ignore-eos"]
        # As ours asks: to sample costs a real server more than to take the likeliest token.
        what += ["--temperature=0"]
        what += [f"--random-input-len={PROMPT_TOKENS}", f"--random-output-len={job.tokens}"]
        load = [f"--num-prompts={job.requests}", f"--max-concurrency={job.users}"]
        out = ["--save-result", "--percentile-metrics=ttft,tpot,itl", "--metric-percentiles=50,99"]
        out += [f"--result-dir={job.folder}", "--result-filename=vllm.json", "--disable-tqdm"]
        more = ["--ready-check-timeout-sec=0"]
        return [*tools.program(name), "bench", "serve", *where, *what, *load, *out, *more]

    return command


def _read_vllm(job: Job) -> Figures:
    found = _load(job.folder / "vllm.json")
    names = ("mean_ttft_ms", "mean_tpot_ms", "output_throughput", "p99_itl_ms", "completed")
    medians = {name: found.get(name) for name in ("median_ttft_ms", "median_tpot_ms")}
    return Figures(*(found.get(name) for name in names), more=medians)


def _llama_benchy(job: Job) -> list[str]:
    # Its prompts come from a book, which the mock has; its own warm-up and checks are left out, as the others' are.
    where = ["--base-url", f"{job.url}/v1", "--model", job.model, "--tokenizer", tokenizer()]
    plain = ["--latency-mode", "none", "--no-warmup", "--skip-coherence", "--no-adapt-prompt", "--no-cache"]
    load = ["--pp", str(PROMPT_TOKENS), "--tg", str(job.tokens), "--exact-tg", "--concurrency", str(job.users)]
    runs = ["--runs", str(job.requests // job.users), "--book-url", f"{job.url}/book.txt"]
    out = ["--save-result", str(job.folder / "llama-benchy.json"), "--format", "json"]
    return [*tools.program("llama-benchy"), *where, *plain, *load, *runs, *out]


def _read_llama_benchy(job: Job) -> Figures:
    (found,) = _load(job.folder / "llama-benchy.json")["benchmarks"]
    per_user = found["tg_req_throughput"]
    return Figures(
        ttft_ms=found["e2e_ttft"]["mean"],
        decode_ms=1000 / per_user["mean"] if per_user and per_user["mean"] else None,
        output_tps=found["tg_throughput"]["mean"] if found["tg_throughput"] else None,
        ok=len(per_user["values"]) if per_user else 0,
    )


def _evalscope(job: Job) -> list[str]:
    where = ["--api", "openai", "--url", f"{job.url}/v1/chat/completions", "--model", job.model, "--stream"]
    what = ["--dataset", "random", "--tokenizer-path", tokenizer(), "--no-test-connection"]
    what += ["--min-prompt-length", str(PROMPT_TOKENS), "--max-prompt-length", str(PROMPT_TOKENS)]
    what += ["--max-tokens", str(job.tokens), "--min-tokens", str(job.tokens)]
    load = ["--number", str(job.requests), "--parallel", str(job.users)]
    return [*tools.program("evalscope"), "perf", *where, *what, *load, "--outputs-dir", str(job.folder)]


def _read_evalscope(job: Job) -> Figures:
    (path,) = job.folder.rglob("benchmark_summary.json")
    found = _load(path)
    (tail,) = [row for row in _load(path.with_name("benchmark_percentile.json")) if row["Percentiles"] == "99%"]
    names = ("Avg TTFT (ms)", "Avg TPOT (ms)", "Output Throughput (tok/s)")
    return Figures(*(found.get(name) for name in names), tail.get("ITL (ms)"), found.get("Success Requests"))


def _aiperf(job: Job) -> list[str]:
    where = ["--url", job.url, "--model", job.model, "--endpoint-type", "chat", "--streaming"]
    what = ["--tokenizer", HUB_NAME, "--isl", str(PROMPT_TOKENS), "--osl", str(job.tokens)]
    what += ["--extra-inputs", "ignore_eos:true", "--extra-inputs", f"min_tokens:{job.tokens}"]
    load = ["--concurrency", str(job.users), "--request-count", str(job.requests)]
    out = ["--output-artifact-dir", str(job.folder), "--ui-type", "none", "--no-gpu-telemetry", "--no-server-metrics"]
    return [*tools.program("aiperf"), "profile", *where, *what, *load, *out]


def _read_aiperf(job: Job) -> Figures:
    found = _load(job.folder / "profile_export_aiperf.json")

    def figure(name: str, which: str = "avg") -> float | None:
        return (found.get(name) or {}).get(which)

    ok = figure("completed_request_count") or figure("request_count") or 0
    ttft, decode = figure("time_to_first_token"), figure("inter_token_latency")
    return Figures(ttft, decode, figure("output_token_throughput"), figure("inter_chunk_latency", "p99"), int(ok))


def _guidellm(job: Job) -> list[str]:
    where = ["--backend", f"kind=openai_http,target={job.url},model={job.model},request_format=/v1/chat/completions"]
    what = ["--tokenizer", f"kind=hf_auto,model={tokenizer()}"]
    what += ["--data", f"kind=synthetic_text,prompt_tokens={PROMPT_TOKENS},output_tokens={job.tokens}"]
    load = ["--profile", f"kind=concurrent,streams={job.users}"]
    load += ["--constraint", f"kind=max_requests,count={job.requests}"]
    out = ["--output", f"kind=json,path={job.folder / 'guidellm.json'}", "--disable-console"]
    return [*tools.program("guidellm"), "run", *where, *what, *load, *out]


def _read_guidellm(job: Job) -> Figures:
    (found,) = _load(job.folder / "guidellm.json")["benchmarks"]
    metrics = found["metrics"]

    def figure(name: str) -> float | None:
        return (metrics[name].get("successful") or {}).get("mean")

    names = ("time_to_first_token_ms", "inter_token_latency_ms", "output_tokens_per_second")
    return Figures(*(figure(name) for name in names), None, metrics["request_totals"]["successful"])


def contenders(hub: Path) -> dict[str, Contender]:
    """Ours first."""
    offline = {"HF_HOME": str(hub)}
    rows = [
        Contender(OURS, _ours, _read_ours),
        Contender(tools.RUST, _vllm(tools.RUST), _read_vllm),
        Contender(tools.VLLM, _vllm(tools.VLLM), _read_vllm),
        Contender("llama-benchy", _llama_benchy, _read_llama_benchy),
        Contender("evalscope", _evalscope, _read_evalscope),
        Contender("aiperf", _aiperf, _read_aiperf),
        Contender("guidellm", _guidellm, _read_guidellm),
    ]
    return {
        row.name: Contender(row.name, row.command, row.read, {**offline, **tools.environment_of(row.name)})
        for row in rows
    }
