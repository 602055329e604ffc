# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is seen of the targets before any load: all that is wrong with all of them at once. An edge: it asks them.

A run that would only collect errors is refused here, with the words of the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import path_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.doors import Door
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.questions import Answer, get, post
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import REFUSED

# Tokens of the answer that shows that the target can answer. Reasoning models say their first words to themselves.
TOKENS = 16
WORDS = "Say hello."
TEXTS = ("content", "reasoning", "reasoning_content", "text")
AT_ONCE = 8


def look(doors: Sequence[Door], order: Mapping[str, Any]) -> list[Fault]:
    """Ask all targets for their models and for a few tokens at each endpoint that the rounds use."""
    limits = order["limits"]

    def of(door: Door) -> list[Fault]:
        used = [spec["endpoint"] for spec in order["rounds"] if spec["target"] == door.name]
        return list(look_at(door, list(dict.fromkeys(used)), limits["connect_s"], limits["ttft_s"]))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [fault for faults in pool.map(of, doors) for fault in faults]


def look_at(door: Door, endpoints: Sequence[str], quick: float, patience: float) -> Iterable[Fault]:
    """Ask one target.

    :param quick: seconds in which /v1/models answers
    :param patience: seconds in which a first generation answers
    """
    fault = models_fault(door, get(door.target, "/v1/models", quick))
    if fault is not None:
        yield fault
        return
    for endpoint in endpoints:
        answer = post(door.target, path_of(endpoint), short_ask(endpoint, door.model), patience)
        fault = answer_fault(door, endpoint, answer)
        if fault is not None:
            yield fault


def short_ask(endpoint: str, model: str) -> dict[str, Any]:
    """The body of a request for a few tokens."""
    if endpoint == "responses":
        return {"model": model, "input": WORDS, "max_output_tokens": TOKENS}
    if endpoint == "completions":
        return {"model": model, "prompt": WORDS, "max_tokens": TOKENS}
    return {"model": model, "messages": [{"role": "user", "content": WORDS}], "max_tokens": TOKENS}


def models_fault(door: Door, answer: Answer) -> Fault | None:
    """What an answer to /v1/models shows to be wrong."""
    place = f"target {door.name} ({door.target.url})"
    if answer.status is None:
        remedy = "Start it, and look at it with the playbook status; or correct the address"
        return Fault(place, f"no answer to /v1/models: {answer.error}", "an OpenAI API", remedy)
    if answer.status in REFUSED:
        return _refused(door, place, answer)
    document = answer.json()
    try:
        names = [str(entry["id"]) for entry in document["data"]]
    except (KeyError, TypeError):
        found = f"an answer to /v1/models that is none of an OpenAI API ({answer.words()})"
        return Fault(place, found, "a list of models", "Give the address of an engine or of its gateway")
    if door.model not in names:
        found = f"that it serves {', '.join(names) or 'no model'}"
        return Fault(place, found, door.model, "Correct serving_served_model_name, or deploy that model")
    return None


def answer_fault(door: Door, endpoint: str, answer: Answer) -> Fault | None:
    """What an answer to a request for tokens shows to be wrong."""
    place = f"target {door.name} ({door.target.url}{path_of(endpoint)})"
    if answer.status in REFUSED:
        return _refused(door, place, answer)
    if answer.status in (404, 405):
        remedy = f"Leave {endpoint} out with benchmark_endpoints, or serve it"
        return Fault(place, answer.words(), "an answer", remedy)
    document = answer.json()
    if not isinstance(document, dict) or document.get("error"):
        remedy = "Read the log of the engine, and mend that first"
        return Fault(place, answer.words(), "an answer with tokens", remedy)
    if not has_tokens(document):
        remedy = "Read the log of the engine: a server that makes no token cannot be measured"
        return Fault(place, "an answer without a token", "tokens", remedy)
    return None


def has_tokens(document: Mapping[str, Any]) -> bool:
    """Whether an answer of any of the endpoints holds a token, said or thought."""
    usage = document.get("usage")
    if isinstance(usage, dict) and (usage.get("completion_tokens") or usage.get("output_tokens") or 0) > 0:
        return True
    pieces = [document.get("choices"), document.get("output")]
    return any(_has_text(piece) for piece in pieces)


def _has_text(piece: Any) -> bool:
    if isinstance(piece, list):
        return any(_has_text(one) for one in piece)
    if not isinstance(piece, dict):
        return False
    if any(isinstance(piece.get(name), str) and piece[name] for name in TEXTS) or piece.get("tool_calls"):
        return True
    return any(_has_text(piece.get(name)) for name in ("message", "content", "summary"))


def _refused(door: Door, place: str, answer: Answer) -> Fault:
    path = door.entry.get("key_file")
    found = f"that it refuses {'the key in ' + path if path else 'requests without a key'} ({answer.words()})"
    return Fault(place, found, "a key that it accepts", _key_remedy(door.entry))


def _key_remedy(target: Mapping[str, Any]) -> str:
    """What helps: an engine behind a gateway has a key of its own, which a deployment lays and no user gives."""
    again = "Deploy again, so that engine and host have one key"
    path = target.get("key_file")
    if path and path in [engine.get("key_file") for engine in target["engines"]]:
        return again
    direct = not path and target.get("via") == "direct"
    return "Give its key by benchmark_api_key_file" + (f"; behind a gateway: {again.lower()}" if direct else "")
