# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The format of ``llama-benchy --save-result FILE --format json``.

Its "t/s (total)" of generation runs from the first token of any request to the last one, so the time to the first token
is not in it: it is no output rate of ours and is left out. Its batches wait for their last request, which ours do not.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import digest_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import (
    About,
    Piece,
    Read,
    unknown,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import distribution, scalar

NAME = "llama-benchy"
WHY_NONE = f"not in {NAME}"
WHOSE = "whether the server or the tool counted the tokens of the prompts, the file does not say"
KEYS = ("version", "latency_mode", "model", "benchmarks")
NOTES = (
    "llama-benchy's t/s of generation leaves the time to the first token out, so there is no output rate.",
    "llama-benchy sends its requests in batches that wait for the last one, so the load sinks at each end.",
    "llama-benchy leaves failed requests out without a count, so there is no error rate.",
    "Whether tokens were counted by the server or by the tool, the file does not say.",
)


def recognises(document: Mapping[str, Any]) -> bool:
    """It has a list of benchmarks, each with a concurrency."""
    runs = document.get("benchmarks")
    if not all(key in document for key in KEYS) or not isinstance(runs, list):
        return False
    return all(isinstance(run, dict) and "concurrency" in run and "tg_throughput" in run for run in runs)


def read(documents: Sequence[Mapping[str, Any]], about: About) -> Read:
    """All benchmarks of a file, a point for each."""
    first = documents[0]
    when = _when(first)
    runs = [run for document in documents for run in document["benchmarks"]]
    return Read(
        tool=NAME,
        version=str(first["version"]),
        model=str(first["model"]),
        started=None if when is None else f"{when:%Y-%m-%dT%H:%M:%SZ}",
        pieces=tuple(
            _piece(document, run, about, len(runs)) for document in documents for run in document["benchmarks"]
        ),
        notes=NOTES,
    )


def _piece(document: Mapping[str, Any], run: Mapping[str, Any], about: About, runs: int) -> Piece:
    users = int(run["concurrency"])
    # Of one user the file has each request under the name that of several is the batch's.
    each = _values(run, "tg_throughput" if users == 1 else "tg_req_throughput")
    first = _values(run, "e2e_ttft")
    summary: dict[str, Any] = unknown(NAME)
    summary.update(
        ttft_ms=distribution(first, WHY_NONE),
        ttfr_ms=distribution(_values(run, "ttfr"), WHY_NONE),
        tpot_ms=distribution([1000 / value for value in each if value > 0], WHY_NONE),
        decode_tps=distribution([value for value in each if value > 0], WHY_NONE),
        output_tps=scalar(None, "llama-benchy's t/s leaves the time to the first token out"),
        error_rate=scalar(None, "llama-benchy leaves failed requests out without a count"),
        prefill_tps=scalar(None, WHOSE),
    )
    when = _when(document)
    return Piece(
        case=_case(run, about, runs),
        load={"model": "closed", "n": users, "requests": max(len(first), len(each)), "min_s": 0.0},
        endpoint="chat",
        summary=summary,
        errors={},
        began=None if when is None else when.timestamp(),
    )


def _case(run: Mapping[str, Any], about: About, runs: int) -> dict[str, Any]:
    depth = run.get("context_size") or 0
    words = f"pp{run['prompt_size']}-tg{run['response_size']}" + (f"-d{depth}" if depth else "")
    words += "-context" if run.get("is_context_prefill_phase") else ""
    case = {
        "name": about.case if about.case and runs == 1 else "-".join(filter(None, (about.case, words))),
        "language": "",
        "description": f"Imported from {NAME}: {words}",
        "prompt_tokens": int(run["prompt_size"]) + int(depth),
        "output": {"mode": "fixed", "tokens": int(run["response_size"])},
        "cache": None,
    }
    return {**case, "digest": digest_of(case)}


def _values(run: Mapping[str, Any], name: str) -> list[float]:
    return [float(value) for value in (run.get(name) or {}).get("values") or ()]


def _when(document: Mapping[str, Any]) -> datetime.datetime | None:
    try:
        when = datetime.datetime.strptime(str(document.get("timestamp")), "%Y-%m-%d %H:%M:%SZ")
    except ValueError:
        return None
    return when.replace(tzinfo=datetime.timezone.utc)
