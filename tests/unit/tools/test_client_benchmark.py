# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of our client: what its mock writes, what it takes for true, how it judges."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.client import tools
from benchmarks.client.against_vllm import table
from benchmarks.client.cells import Cell, nothing
from benchmarks.client.child import Usage, run
from benchmarks.client.contenders import OURS, Figures, Job, contenders
from benchmarks.client.dialect import BROKEN_AFTER, FAULTS, HALF, NONE_IS_GOOD, Dialect
from benchmarks.client.mock import detokenize, tokenize
from benchmarks.client.percentiles import percentile
from benchmarks.client.report import fault_cell, fault_verdict, tools_table, verdict_table
from benchmarks.client.truth import Truth, ask_mock, error, errors, of_generations, set_mock
from benchmarks.gateway.stage import ask, wait_until_answers

CHECKOUT = Path(__file__).parents[3]
TOKENS = 64


def body(data: bytes) -> bytes:
    """The body of a response in chunks."""
    found = b""
    while data:
        size, _line, data = data.partition(b"\r\n")
        length = int(size, 16)
        found, data = found + data[:length], data[length + 2 :]
    return found


def stream(fault: str, *, chat: bool = True, usage: bool = True, continuous: bool = False) -> bytes:
    """A whole stream of 64 tokens."""
    dialect = Dialect.of(fault, chat=chat)
    data, sent = dialect.opening, 0
    while sent < dialect.length(TOKENS):
        sent += dialect.per_chunk
        data += dialect.event(sent, usage=continuous)
        if dialect.breaks and sent >= BROKEN_AFTER:
            return body(data + dialect.breaking)
    return body(data + dialect.ending(sent, usage=usage))


def events(text: bytes) -> list[Any]:
    """Its events, read the forgiving way."""
    lines = [line for line in text.replace(b"\r\n", b"\n").split(b"\n") if line.startswith(b"data:")]
    return [line[5:].strip() for line in lines]


def values(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(event) for event in events(text) if event != b"[DONE]"]


def said(text: bytes, field: str) -> int:
    """How many events say something in a field."""
    deltas = [choice["delta"] for value in values(text) for choice in value.get("choices", ())]
    return sum(bool(delta.get(field)) for delta in deltas)


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_stream_ends_as_its_fault_says(fault: str, chat: bool) -> None:
    text = stream(fault, chat=chat)
    counts = [value["usage"]["completion_tokens"] for value in values(text) if "usage" in value]
    assert (events(text)[-1] == b"[DONE]") == (fault != "trunc")
    assert counts == ([] if fault in ("nousage", "trunc", "err-in-200") else [16 if fault == "short" else TOKENS])
    finished = [c["finish_reason"] for value in values(text) for c in value.get("choices", ()) if c["finish_reason"]]
    assert finished == ([] if fault in ("trunc", "err-in-200") else ["length"])


def test_each_fault_looks_as_it_is_described() -> None:
    assert values(stream("role-start"))[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert said(stream("chunk4"), "content") == TOKENS / 4
    assert said(stream("reason-half"), "reasoning_content") == HALF
    assert said(stream("reason-half"), "content") == TOKENS - HALF
    assert said(stream("reason-all"), "reasoning_content") == said(stream("reasoning-all"), "reasoning") == TOKENS
    assert stream("crlf").count(b"\r\n\r\n") == stream("base").count(b"\n\n")
    assert b"data: " not in stream("nospace")
    assert stream("ping").count(b": ping\n\n") == len(events(stream("ping")))
    assert values(stream("err-in-200"))[-1]["error"]["code"] == 500
    assert len(values(stream("trunc"))) == BROKEN_AFTER


def test_an_event_is_cut_inside_a_character() -> None:
    dialect = Dialect.of("split-utf8", chat=True)
    data = dialect.event(1)
    first = data[: dialect.cut(data)]
    with pytest.raises(UnicodeDecodeError):
        first.decode()
    assert data.decode()
    assert Dialect.of("base", chat=True).cut(data) == 0


def test_continuous_usage_counts_up() -> None:
    with_usage = [value for value in values(stream("chunk4", continuous=True)) if "usage" in value]
    found = [value["usage"]["completion_tokens"] for value in with_usage]
    assert found[:3] == [4, 8, 12]
    assert found[-1] == TOKENS


def test_an_unknown_fault_is_named() -> None:
    with pytest.raises(ValueError, match="no fault is called 'nonsense'; there are base, role-start"):
        Dialect("nonsense", chat=True)


def test_words_come_back_from_their_tokens_in_number() -> None:
    tokens = tokenize("one two three")
    assert len(tokens) == 3
    assert len(tokenize(detokenize(tokens))) == 3


@pytest.fixture
def engine() -> Iterator[int]:
    """The mock's port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "benchmarks.client.mock", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / ".collections")}
    process = subprocess.Popen(command, cwd=CHECKOUT, env=environment)
    try:
        wait_until_answers(port)
        yield port
    finally:
        process.kill()
        process.wait()


def test_the_engine_knows_what_it_sent(engine: int) -> None:
    set_mock(engine, ttft=0.05, itl=0.01, fault="chunk4")
    wish = {"max_tokens": 16, "stream": True, "stream_options": {"include_usage": True}}
    before = time.monotonic()
    status, answer = ask(engine, "/v1/chat/completions", "POST", wish)
    took = 1000 * (time.monotonic() - before)
    truth = ask_mock(engine, 1)
    assert status == 200
    assert answer.count(b"[DONE]") == 1
    assert (truth.ok, truth.tokens, truth.requests) == (1, 16, 1)
    assert truth.ttft_ms is not None
    assert 50 <= truth.ttft_ms <= took
    # Three chunks follow the first, and by definition fifteen tokens.
    assert truth.decode_ms is not None
    assert 8 * 0.9 <= truth.decode_ms <= took / 15


@pytest.mark.parametrize(("fault", "good"), [("trunc", False), ("http500", True)])
def test_the_engine_breaks_what_it_is_told_to(engine: int, fault: str, good: bool) -> None:
    set_mock(engine, ttft=0.01, itl=0.0, fault=fault)
    statuses = []
    for _number in range(2):
        try:
            statuses.append(ask(engine, "/v1/chat/completions", "POST", {"max_tokens": 20, "stream": True})[0])
        except ConnectionError:
            statuses.append(0)
    assert statuses == ([200, 500] if good else [0, 0])
    assert ask_mock(engine, 2, good=good).ok == (1 if good else 0)


def generation(arrived: float, sends: list[float], **more: Any) -> dict[str, Any]:
    return {"arrived": arrived, "sends": sends, "tokens": len(sends), "first": 1, "whole": True, **more}


def test_truth_is_of_the_last_requests() -> None:
    warm_up = generation(0.0, [5.0, 6.0])
    first = generation(10.0, [10.1, 10.12, 10.14])
    second = generation(10.0, [10.3, 10.34, 10.36])
    truth = of_generations([second, warm_up, first], 2)
    assert truth.ttft_ms == pytest.approx(200)
    assert truth.decode_ms == pytest.approx(25)
    assert truth.output_tps == pytest.approx(6 / 0.36)
    assert truth.itl_p99_ms == pytest.approx(40)
    assert (truth.ok, truth.tokens, truth.requests) == (2, 8, 3)
    assert (truth.first_arrival, truth.last_send) == (0.0, 10.36)


def test_truth_of_bursts_takes_the_first_chunk_out() -> None:
    truth = of_generations([generation(0.0, [0.1, 0.14], tokens=8, first=4)], 1)
    assert truth.decode_ms == pytest.approx(10)


def test_what_broke_has_no_true_figures() -> None:
    broken = generation(0.0, [0.1, 0.2], whole=False)
    truth = of_generations([broken], 1)
    assert (truth.ok, truth.ttft_ms, truth.decode_ms, truth.output_tps) == (0, None, None, None)
    assert of_generations([generation(0.0, [0.1])], 1, good=False).ok == 0
    assert of_generations([], 3).first_arrival == 0.0


def test_errors_are_percent_of_the_truth_and_none_without() -> None:
    assert error(103.0, 100.0) == pytest.approx(3)
    assert error(None, 100.0) is error(1.0, None) is None
    found = errors(Figures(99.0, None, 50.0, None), truth_of(100.0))
    assert found == {
        "ttft_ms": pytest.approx(-1),
        "decode_ms": None,
        "output_tps": pytest.approx(-50),
        "itl_p99_ms": None,
    }


def truth_of(ttft: float | None, ok: int = 8) -> Truth:
    return Truth(ttft, 10.0, 100.0, 20.0, 1000, ok, 1.2, 9.0, 8)


def cell(figures: Figures, truth: Truth, users: int = 4, why: str = "") -> Cell:
    usage = Usage(1.0, 10.0, 0.02, 30.0, 1, 0)
    return Cell(OURS, users, 8, figures, truth, usage, why, errors(figures, truth))


GOOD = Figures(101.0, 10.0, 100.0, 20.2, 8, {"kinds": {}, "valid": True, "client": {"cpu_s": 0.02}})


def test_a_right_answer_to_a_fault_is_right() -> None:
    assert fault_verdict("base", cell(GOOD, truth_of(100.0))) == ""
    none = Truth(None, None, None, None, 0, 0, 1.2, 9.0, 8)
    broken = Figures(ok=0, more={"kinds": {"truncated": 8}})
    assert fault_verdict("trunc", cell(broken, none)) == ""
    unknown = Figures(101.0, None, None, 20.0, 8, {"kinds": {}})
    assert fault_verdict("nousage", cell(unknown, truth_of(100.0))) == ""
    assert fault_cell(cell(unknown, truth_of(100.0))) == "ok 8/8, ttft +1.0, tpot -, tok/s -"


@pytest.mark.parametrize(
    ("fault", "figures", "ok", "wrong"),
    [
        ("trunc", Figures(ok=8, more={"kinds": {}}), 0, "8 successes, really 0"),
        ("short", Figures(ok=0, more={"kinds": {"truncated": 8}}), 0, "wanted {'short_output': 8}"),
        ("base", Figures(110.0, 10.0, 100.0, 20.0, 8, {"kinds": {}}), 8, "TTFT +10.0 %"),
        ("chunk4", Figures(100.0, 9.5, 100.0, 20.0, 8, {"kinds": {}}), 8, "TPOT -5.0 %"),
        ("base", Figures(100.0, None, 100.0, 20.0, 8, {"kinds": {}}), 8, "TPOT - %"),
        ("nousage", Figures(100.0, 20.0, 100.0, 20.0, 8, {"kinds": {}}), 8, "TPOT +100.0 %"),
    ],
)
def test_a_wrong_answer_to_a_fault_is_named(fault: str, figures: Figures, ok: int, wrong: str) -> None:
    truth = truth_of(100.0) if ok else Truth(None, None, None, None, 0, 0, 1.2, 9.0, 8)
    assert wrong in fault_verdict(fault, cell(figures, truth))


def test_what_broke_is_good_in_no_row_and_the_rest_in_each() -> None:
    assert set(FAULTS) > NONE_IS_GOOD


def test_the_figures_are_judged() -> None:
    late = Figures(104.0, 10.0, 100.0, 22.0, 8, {"kinds": {}, "valid": True, "client": {"cpu_s": 0.05}})
    found = verdict_table(
        {(OURS, 32): [cell(late, truth_of(100.0), 32)]}, {"base": {OURS: cell(GOOD, truth_of(100.0))}}
    )
    assert "| TTFT error, N <= 128 | <= 3 % | 4 % (N = 32) | **missed** |" in found
    assert "| p99 ITL error, N <= 256 | <= 5 % | 10 % (N = 32) | **missed** |" in found
    assert "| CPU of measuring per 1,000 tokens, N >= 32 | <= 0.03 s | 0.05 s | **missed** |" in found
    assert "| memory, N <= 256 | <= 40 MB | 30 MB | holds |" in found
    assert "| start of the process to the first request | <= 0.3 s | 0.2 s | holds |" in found
    assert "| fault base | right | right | holds |" in found


def test_an_invalid_point_counts_for_no_figure_and_is_named() -> None:
    wild = Figures(200.0, 10.0, 100.0, 60.0, 8, {"kinds": {}, "valid": False})
    cells = {(OURS, 32): [cell(GOOD, truth_of(100.0), 32)], (OURS, 128): [cell(wild, truth_of(100.0), 128)]}
    found = verdict_table(cells, {})
    assert "| TTFT error, N <= 128 | <= 3 % | 1 % (N = 32) | holds |" in found
    assert "| points marked invalid by the client itself |  | N=128 |  |" in found
    assert "ours (marked invalid by itself)" in tools_table(cells)


def test_a_tool_that_is_not_there_has_its_reason_in_the_table() -> None:
    row = tools_table({("aiperf", 8): [nothing("aiperf", 8, "no matching distribution | at all")]}).splitlines()[-1]
    assert row.startswith("| aiperf | 8 | no matching distribution / at all |")
    assert row.count("|") == tools_table({}).splitlines()[0].count("|")


def test_each_tool_has_a_command_line_with_the_address_and_the_sizes(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tools, "program", lambda name: [name])
    monkeypatch.setattr(tools, "environment_of", lambda _name: {"HF_HUB_OFFLINE": "1"})
    monkeypatch.setattr("benchmarks.client.contenders.tokenizer", lambda: "/tokenizer")
    rows = contenders(tmp_path)
    assert set(rows) == {OURS, *tools.NAMES}
    job = Job("http://127.0.0.1:1", 3, 6, 77, tmp_path)
    for name, row in rows.items():
        words = " ".join(row.command(job))
        assert "http://127.0.0.1:1" in words, name
        assert "77" in words, name
        assert "3" in words.replace("http://127.0.0.1:1", ""), name
        assert row.environment["HF_HOME"] == str(tmp_path)


FOUND: dict[str, tuple[str, Any, Figures]] = {
    tools.VLLM: (
        "vllm.json",
        {
            "mean_ttft_ms": 1.0,
            "mean_tpot_ms": 2.0,
            "output_throughput": 3.0,
            "p99_itl_ms": 4.0,
            "completed": 5,
            "median_tpot_ms": 2.5,
        },
        Figures(1.0, 2.0, 3.0, 4.0, 5, {"median_ttft_ms": None, "median_tpot_ms": 2.5}),
    ),
    "llama-benchy": (
        "llama-benchy.json",
        {
            "benchmarks": [
                {
                    "e2e_ttft": {"mean": 1.0},
                    "tg_req_throughput": {"mean": 50.0, "values": [50.0, 50.0]},
                    "tg_throughput": {"mean": 100.0},
                }
            ]
        },
        Figures(1.0, 20.0, 100.0, None, 2),
    ),
    "guidellm": (
        "guidellm.json",
        {
            "benchmarks": [
                {
                    "metrics": {
                        "time_to_first_token_ms": {"successful": {"mean": 1.0}},
                        "inter_token_latency_ms": {"successful": {"mean": 2.0}},
                        "output_tokens_per_second": {"successful": None},
                        "request_totals": {"successful": 4},
                    }
                }
            ]
        },
        Figures(1.0, 2.0, None, None, 4),
    ),
    "aiperf": (
        "profile_export_aiperf.json",
        {
            "time_to_first_token": {"avg": 1.0},
            "inter_token_latency": {"avg": 2.0},
            "output_token_throughput": {"avg": 3.0},
            "inter_chunk_latency": {"p99": 4.0},
            "completed_request_count": {"avg": 8.0},
        },
        Figures(1.0, 2.0, 3.0, 4.0, 8),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_the_figures_of_a_tool_are_found_in_its_file(name: str, tmp_path: Path) -> None:
    file, content, wanted = FOUND[name]
    (tmp_path / file).write_text(json.dumps(content), encoding="utf-8")
    assert contenders(tmp_path)[name].read(Job("", 1, 1, 1, tmp_path)) == wanted


def test_a_tool_that_cannot_be_installed_is_remembered_with_its_error(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("DGXSPARK_CACHE", str(tmp_path))
    assert tools.state_of("aiperf")[1] == "not installed: python -m benchmarks.client.tools install aiperf"

    def fails(_name: str, _folder: Path) -> str:
        raise tools.CannotInstall("no matching distribution")

    monkeypatch.setattr(tools, "HOW", {"aiperf": fails})
    assert tools.install("aiperf") == "no matching distribution"
    assert tools.state_of("aiperf") == ("", "no matching distribution")


def test_a_process_is_measured_and_a_hung_one_ended(tmp_path: Path) -> None:
    good = run(["sh", "-c", "exit 3"], tmp_path / "log", {})
    assert good.code == 3
    assert good.memory_mb > 0
    hung = run(["sleep", "60"], tmp_path / "log", {}, limit=0.3)
    assert hung.code is None
    assert hung.wall < 30


def medians(tpot: float, ttft: float) -> Figures:
    return Figures(ok=4, more={"median_tpot_ms": tpot, "median_ttft_ms": ttft})


def test_agreement_with_vllm_is_judged_by_medians() -> None:
    ours = [medians(10.0, 100.0), medians(10.2, 104.0)]
    found = table({OURS: ours, tools.VLLM: [medians(10.0, 99.0)], tools.RUST: [medians(10.0, 80.0)]}).splitlines()
    assert found[-2] == "| vllm | 10.00 (10.00 - 10.00) | 99.00 (99.00 - 99.00) | 4 | +1.00 | +3.00 | holds |"
    assert found[-1].endswith("| +22.00 | **missed** |")
    assert "| - | - | - |" in table({OURS: ours, tools.VLLM: [Figures()]})


def test_percentiles_of_nothing_are_none() -> None:
    assert percentile([], 0.5) is None
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0, 2.0], 0.99) == 2.0
