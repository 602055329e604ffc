# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of ``vllm bench serve``, of its Python and of its Rust program: they write the same keys.

Names are the same as ours, and so are the definitions of TTFT, TPOT and E2EL, but for these: the first token is the
first chunk with a choice, which may be the role alone; each answer's last chunk, which has no token, counts as a gap
of ITL; tokens per second are by the wall time of the run. Where the file has the requests themselves
(``--save-detailed``), figures are made from them in our way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import digest_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports import vllm_requests
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import (
    NONE_SUCCEEDED,
    About,
    Piece,
    server,
    unknown,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import (
    NEEDED,
    distribution,
    rounded,
    scalar,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.schema import ERROR_KINDS

TOOL = "the JSON of vllm bench serve"

# What every version has written for generation, with and without details.
KEYS = ("backend", "model_id", "num_prompts", "duration", "completed", "total_output_tokens", "output_throughput")
# A steady time has so many of the wanted requests under way, and lasts so long.
STEADY_SHARE = 0.95
LEAST_STEADY_S = 1.0
_ENDPOINTS = {
    "openai-chat": "chat",
    "openai-responses": "responses",
    "openai": "completions",
    "openai-completions": "completions",
    "vllm": "completions",
}
NOTES = (
    "vLLM's TTFT is the time to the first chunk with a choice; it is too short where a server sends the role before.",
    "vLLM's gaps (ITL) include one to each answer's last chunk, which has no token.",
    "Whether tokens were counted by the server or by a tokenizer of the client, the file does not say.",
)
WALL_NOTE = "vLLM's tokens and requests per second are by the wall time of its run; ours end with the last token."


def piece(document: Mapping[str, Any], about: About, began: float | None) -> Piece:
    """The point of one result."""
    summary = unknown(TOOL)
    requests = vllm_requests.records(document)
    load = _load(document)
    if requests:
        found = vllm_requests.summarised(requests, load)
        summary.update(found["summary"])
        errors, samples = found["errors"], tuple(found["error_samples"])
    else:
        summary.update(_given(document))
        errors, samples = vllm_requests.failures(document), ()
    summary["goodput_rate"] = scalar(_number(document, "request_goodput"), "no limits were given")
    summary.update(_steady(document))
    return Piece(
        case=_case(document, about, requests),
        load=load,
        endpoint=_ENDPOINTS.get(document["backend"], str(document["backend"])),
        summary=summary,
        # Kinds of ours only: what vLLM's words do not tell is counted in the error rate, and in a note.
        errors={kind: count for kind, count in errors.items() if kind in ERROR_KINDS},
        error_samples=samples,
        server=_server(document),
        began=began,
        seconds=_number(document, "duration"),
        mean_concurrency=vllm_requests.mean_concurrency(requests) if requests else None,
    )


def notes(documents: Sequence[Mapping[str, Any]], pieces: Sequence[Piece]) -> tuple[str, ...]:
    """How the figures differ from ours, and what was lost."""
    found = list(NOTES)
    for document, made in zip(documents, pieces, strict=True):
        if not vllm_requests.records(document):
            found.append(WALL_NOTE)
        lost = _failed(document) - sum(made.errors.values())
        if lost:
            found.append(f"{lost} of {_all(document)} requests failed, and of what kind the file does not tell.")
    return tuple(dict.fromkeys(found))


def _load(document: Mapping[str, Any]) -> dict[str, Any]:
    """As many at a time as were allowed; all at once where nothing limits them."""
    requests = int(document["num_prompts"])
    rate = document.get("request_rate")
    if isinstance(rate, (int, float)) and not isinstance(rate, bool) and 0 < rate < float("inf"):
        return {"model": "open", "rate": float(rate), "share": None, "requests": requests}
    users = document.get("max_concurrency") or requests
    return {"model": "closed", "n": min(int(users), requests), "requests": requests, "min_s": 0.0}


def _case(document: Mapping[str, Any], about: About, requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    lengths = {record["tokens"]["completion"] for record in requests if record["error"] is None}
    tokens = lengths.pop() if len(lengths) == 1 else None
    words = f"Imported from {TOOL}: {document['num_prompts']} prompts"
    case = {
        "name": about.case or "vllm-bench",
        "language": "",
        "description": words,
        "prompt_tokens": None,
        "output": {"mode": "natural" if tokens is None else "fixed", "tokens": tokens},
        "cache": None,
    }
    return {**case, "digest": digest_of(case)}


def _given(document: Mapping[str, Any]) -> dict[str, Any]:
    """The figures as vLLM has made them. Of no success it writes zeros, and they are not figures."""
    done = int(document["completed"])
    everything = _all(document)
    found: dict[str, Any] = {
        "error_rate": scalar(_failed(document) / everything if everything else None, "no request was sent")
    }
    metrics = ("ttft", "tpot", "itl", "e2el")
    if not done:
        found.update({f"{name}_ms": distribution((), NONE_SUCCEEDED) for name in metrics})
        return {**found, **{name: scalar(None, NONE_SUCCEEDED) for name in ("output_tps", "request_rate")}}
    for name in metrics:
        found[f"{name}_ms"] = _figures(document, name, done)
    if document["total_output_tokens"] <= done:
        found["tpot_ms"] = distribution((), "no answer has two tokens")
    if found["itl_ms"]["mean"] is not None:
        why = "the mean, as a gap without a token is in it for each answer"
        found["itl_ms"] = {**found["itl_ms"], "mean": None, "null_reason": why}
    middle = found["tpot_ms"]["p50"]
    if middle:
        why = "the mean needs --save-detailed"
        found["decode_tps"] = {**distribution((), why), "n": done, "p50": rounded(1000 / middle)}
    found["output_tps"] = scalar(_number(document, "output_throughput"), f"not in {TOOL}")
    found["request_rate"] = scalar(_number(document, "request_throughput"), f"not in {TOOL}")
    return found


def _figures(document: Mapping[str, Any], name: str, done: int) -> dict[str, Any]:
    """A metric's figures; percentiles only of so many requests as we want for our own."""
    mean = _number(document, f"mean_{name}_ms")
    if mean is None:
        return distribution((), f"not in {TOOL}: it was not among its --percentile-metrics")
    middle = _number(document, f"median_{name}_ms")
    found: dict[str, Any] = {"n": done, "mean": rounded(mean), "p50": middle if middle is None else rounded(middle)}
    missing = []
    for label, _share, needed in NEEDED[1:]:
        value = _number(document, f"{label}_{name}_ms")
        found[label] = None if value is None or done < needed else rounded(value)
        if done < needed:
            missing.append(f"{label} needs {needed}")
    why = f"{', '.join(missing)} values; there are {done}" if missing else ""
    return {**found, "max": None, "null_reason": why}


def _steady(document: Mapping[str, Any]) -> dict[str, Any]:
    """Only the Rust program has a steady time, and ours is the same when its threshold is and it lasts long enough."""
    steady = document.get("steady_state") or {}
    window = steady.get("window") or {}
    if window.get("threshold") != STEADY_SHARE:
        return {}
    if (_number(window, "duration_s") or 0.0) < LEAST_STEADY_S:
        return {"output_tps_steady": scalar(None, "the load was never steady")}
    value = _number(steady, "output_throughput")
    return {"output_tps_steady": scalar(value, f"not in {TOOL}")}


def _server(document: Mapping[str, Any]) -> dict[str, Any] | None:
    if "spec_decode_draft_tokens" not in document:
        return None
    drafted, accepted = (document.get(f"spec_decode_{name}_tokens") for name in ("draft", "accepted"))
    return server({"spec_drafted": drafted, "spec_accepted": accepted})


def _failed(document: Mapping[str, Any]) -> int:
    """Older versions do not write it."""
    failed = document.get("failed")
    return int(document["num_prompts"]) - int(document["completed"]) if failed is None else int(failed)


def _all(document: Mapping[str, Any]) -> int:
    return int(document["completed"]) + _failed(document)


def _number(document: Mapping[str, Any], name: str) -> float | None:
    value = document.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
