# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tool has written a file, and the result of this collection that is made from it."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports import (
    foreign,
    llama_benchy,
    vllm_python,
    vllm_rust,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import About, Read
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import schema
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault

FORMATS: tuple[ModuleType, ...] = (vllm_python, vllm_rust, llama_benchy)
KNOWN = ", ".join(one.NAME for one in FORMATS)
# Keys of a file that are named in a refusal, at most.
_MOST_KEYS = 8

_DEPLOYMENT = (
    "engine version image image_digest revision manifest_digest quant kv_dtype tensor_parallel_size "
    "pipeline_parallel_size nnodes executor max_model_len max_num_seqs gpu_memory_utilization spec_digest gateway"
).split()


def read(text: str, name: str, about: About) -> Read:
    """Read a file of another tool.

    :param name: of the file, for refusals
    :raises ConfigurationError: it is none that is known, or not whole
    """
    documents = _documents(text, name)
    strangers = [document for document in documents if not isinstance(document, Mapping)]
    format_ = next((one for one in FORMATS if all(map(one.recognises, documents))), None) if not strangers else None
    if format_ is None:
        raise ConfigurationError([_unknown((strangers or documents)[0], name)])
    try:
        found: Read = format_.read(documents, about)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        words = f"a file of {format_.NAME} with {type(error).__name__}: {error}"
        remedy = "Save the result again, or look whether the file was edited"
        raise ConfigurationError([Fault(name, words, f"what {format_.NAME} writes", remedy)]) from error
    if not found.pieces:
        remedy = "Look whether the tool has ended without an error"
        raise ConfigurationError([Fault(name, f"a file of {format_.NAME} without a result", "a result", remedy)])
    return found


def result(text: str, name: str, about: About, version: str) -> dict[str, Any]:
    """The document ``spark_bench/1`` of a foreign file.

    :param version: of this collection
    :raises ConfigurationError: as of :func:`read`
    """
    found = read(text, name, about)
    digest = "sha256:" + hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()
    origin = {"tool": found.tool, "version": found.version, "file": name.rpartition("/")[2], "digest": digest}
    points = [foreign.point(piece, number, about) for number, piece in enumerate(found.pieces, 1)]
    cases = {piece.case["name"]: dict(piece.case) for piece in found.pieces}
    return {
        "schema": schema.NAME,
        "tool": {
            "name": "dgxspark.serving",
            "version": version,
            "transport": "imported",
            "self_test": None,
            "imported_from": origin,
        },
        "run": {
            "id": _run_id(found, digest, about),
            "label": about.label,
            "suite": "imported",
            "started": found.started,
            "ended": _ended(found),
            "seed": None,
            "argv_digest": digest,
            "interrupted": False,
        },
        "hosts": {},
        "targets": [{"name": about.target, "via": about.via, "deployment": foreign.DEPLOYMENT, "hosts": []}],
        "deployments": [_deployment(about.model or found.model)],
        "cases": list(cases.values()),
        "points": points,
        "pairs": [],
        "snapshots": {},
        "findings": [_finding(found.tool, words) for words in found.notes],
        "decision": None,
        "comparison": None,
        "requests_file": "",
    }


def _documents(text: str, name: str) -> list[Any]:
    """The documents of a file: one, or one a line as tools append them."""
    try:
        return [_loaded(text)]
    except ValueError as error:
        first = error
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        found = [_loaded(line) for line in lines]
    except ValueError:
        found = []
    if len(found) > 1:
        return found
    words = f"something that is not JSON ({first})" if lines else "an empty file"
    raise ConfigurationError([Fault(name, words, f"a result of {KNOWN}", "Give the JSON file that the tool saved")])


def _loaded(text: str) -> Any:
    """NaN and Infinity, which are no JSON and which some tools write, are no figures: null."""
    return json.loads(text, parse_constant=lambda _word: None)


def _unknown(document: Any, name: str) -> Fault:
    wanted = f"a result of {KNOWN}"
    if not isinstance(document, Mapping):
        return Fault(name, f"JSON that is a {type(document).__name__}", wanted, "Give the file that the tool saved")
    if str(document.get("schema", "")).startswith(schema.FAMILY):
        remedy = "Use it as it is, with -e baseline=FILE or the module benchmark_compare"
        return Fault(name, f"a result of this collection ({document['schema']})", wanted, remedy)
    if document.get("mode") == "multi_turn":
        remedy = "Save a run without --multi-turn"
        return Fault(name, "the conversations of vllm-rs bench serve", wanted, remedy)
    if "total_input_sequences" in document:
        return Fault(name, "a result of a pooling model", wanted, "Save a run of a model that generates text")
    keys = [str(key) for key in document]
    more = f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
    words = f"a JSON object with {', '.join(keys[:_MOST_KEYS]) or 'no keys'}{more}"
    return Fault(name, words, wanted, "Give a file of one of these tools")


def _run_id(found: Read, digest: str, about: About) -> str:
    """By the time of the measurement where it is known, so that names sort by it."""
    when = (found.started or "undated").replace("-", "").replace(":", "")
    return "-".join(filter(None, (when, "imported", about.label, digest.partition(":")[2][:8])))


def _ended(found: Read) -> str | None:
    ends = [piece.began + piece.seconds for piece in found.pieces if piece.began is not None and piece.seconds]
    if not ends:
        return None
    return datetime.datetime.fromtimestamp(round(max(ends)), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _deployment(model: str) -> dict[str, Any]:
    """What served is not in such a file, but for the model's name."""
    nothing = {"argv": [], "env": {}, "replicas": []}
    return {"id": foreign.DEPLOYMENT, **dict.fromkeys(_DEPLOYMENT), **nothing, "model": model}


def _finding(tool: str, words: str) -> dict[str, str]:
    return {"code": "imported", "severity": "info", "text": f"Imported from {tool}: {words}"}
