# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case files: what is asked of the engine and how long its answers are. Data, read from YAML on the controller."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import misspelt_key, named_list, show

# A case as plain data, the way it travels to the client host and into the result.
Case = dict[str, Any]

LANGUAGES = ("en", "zh")
MODES = ("fixed", "natural")
CACHES = ("cold", "warm")
MOST_TOKENS = 131072
MOST_PROMPTS = 256
# Of a cold case's prompt tokens so many may come from the engine's prefix cache; more, and it was not cold.
SHARE_CACHED_COLD = 0.01

KEYS = (
    "name",
    "language",
    "description",
    "prompt_tokens",
    "output",
    "cache",
    "max_share_cached",
    "shared_prefix",
    "prompts",
    "conversations",
)
_OUTPUT_KEYS = ("mode", "tokens")
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?-(en|zh)")
_REMEDY = "Name a case file, or write one like those in roles/benchmark/files/cases"
_CASE_IS = "a mapping with name, language, output, cache, and prompts or conversations"


def read_case(document: Any, place: str) -> tuple[Case | None, list[Fault]]:
    """Read one case file.

    :param document: what its YAML says
    :param place: how a fault names the file
    :returns: the case with its digest, None when it cannot be used, and all that is wrong with it
    """
    if not isinstance(document, Mapping):
        return None, [Fault(place, _kind(document), _CASE_IS, _REMEDY)]
    faults = [misspelt_key(place, str(key), KEYS) for key in document if key not in KEYS]
    values: Case = {}
    for key, check in _CHECKS.items():
        values[key], fault = check(document.get(key), f"{place}.{key}")
        faults += [fault] if fault else []
    values["output"], more = _output(document.get("output"), f"{place}.output")
    faults += more + _questions(document, values, place)
    if not faults:
        faults = _fitting(values, place)
    return (None, faults) if faults else (with_digest(values), [])


def digest_of(case: Case) -> str:
    """The digest of all that makes the case what it is."""
    kept = {key: value for key, value in case.items() if key != "digest"}
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def with_digest(case: Case) -> Case:
    """The case with the digest of what it is now."""
    return {**case, "digest": digest_of(case)}


def with_sizes(case: Case, prompt_tokens: int | None, output_tokens: int | None) -> Case:
    """The case cut down to these sizes, with another digest if that changed it.

    :param prompt_tokens: the most that a prompt may be filled to; None leaves it
    :param output_tokens: length of each answer; None leaves it
    """
    changed = {**case}
    if prompt_tokens is not None and case["prompt_tokens"] is not None:
        changed["prompt_tokens"] = min(prompt_tokens, case["prompt_tokens"])
    if output_tokens is not None:
        changed["output"] = {**case["output"], "tokens": output_tokens}
    return with_digest(changed)


def _kind(value: Any) -> str:
    """What a document is that is not a mapping, in a few words."""
    if value is None:
        return "nothing"
    return f"a list of {len(value)}" if isinstance(value, (list, tuple)) else show(str(value)[:60])


def _fault(place: str, value: Any, wanted: str) -> Fault:
    return Fault(place, show(value), wanted, f"Set it to {wanted}")


def _name(value: Any, place: str) -> tuple[Any, Fault | None]:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value, None
    wanted = "lower-case letters, digits and dashes, with -en or -zh at the end"
    return None, _fault(place, value, wanted)


def _one_of(choices: Sequence[str]) -> Callable[[Any, str], tuple[Any, Fault | None]]:
    def check(value: Any, place: str) -> tuple[Any, Fault | None]:
        return (value, None) if value in choices else (None, _fault(place, value, named_list(choices)))

    return check


def _description(value: Any, place: str) -> tuple[Any, Fault | None]:
    if isinstance(value, str) and value.strip():
        return " ".join(value.split()), None
    return None, _fault(place, value, "a sentence")


def _prompt_tokens(value: Any, place: str) -> tuple[Any, Fault | None]:
    if value is None or _whole(value):
        return value, None
    return None, _fault(place, value, f"a whole number from 1 to {MOST_TOKENS}, or null")


def _share(value: Any, place: str) -> tuple[Any, Fault | None]:
    if value is None or (_number(value) and 0 <= value <= 1):
        return value, None
    return None, _fault(place, value, "a number from 0 to 1")


def _flag(value: Any, place: str) -> tuple[Any, Fault | None]:
    if value is None or isinstance(value, bool):
        return bool(value), None
    return None, _fault(place, value, "true or false")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_TOKENS


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_CHECKS: dict[str, Callable[[Any, str], tuple[Any, Fault | None]]] = {
    "name": _name,
    "language": _one_of(LANGUAGES),
    "description": _description,
    "prompt_tokens": _prompt_tokens,
    "cache": _one_of(CACHES),
    "max_share_cached": _share,
    "shared_prefix": _flag,
}


def _output(value: Any, place: str) -> tuple[dict[str, Any], list[Fault]]:
    if not isinstance(value, Mapping):
        wanted = "a mapping with mode and tokens"
        return {}, [_fault(place, value, wanted)]
    faults = [misspelt_key(place, str(key), _OUTPUT_KEYS) for key in value if key not in _OUTPUT_KEYS]
    if value.get("mode") not in MODES:
        faults.append(_fault(f"{place}.mode", value.get("mode"), named_list(MODES)))
    if not _whole(value.get("tokens")):
        faults.append(_fault(f"{place}.tokens", value.get("tokens"), f"a whole number from 1 to {MOST_TOKENS}"))
    return {"mode": value.get("mode"), "tokens": value.get("tokens")}, faults


def _questions(document: Mapping[str, Any], values: Case, place: str) -> list[Fault]:
    """Read ``prompts`` or ``conversations`` into ``values``: exactly one of them."""
    prompts, conversations = document.get("prompts"), document.get("conversations")
    if (prompts is None) == (conversations is None):
        found = "neither prompts nor conversations" if prompts is None else "both prompts and conversations"
        return [
            Fault(place, found, "one of them", "Write prompts for single questions, conversations for several turns")
        ]
    if prompts is not None:
        values["prompts"] = prompts
        return _texts(prompts, f"{place}.prompts")
    values["conversations"] = conversations
    if not isinstance(conversations, list) or not 1 <= len(conversations) <= MOST_PROMPTS:
        return [_fault(f"{place}.conversations", _kind(conversations), f"a list of 1 to {MOST_PROMPTS} conversations")]
    return [
        fault
        for number, turns in enumerate(conversations)
        for fault in _texts(turns, f"{place}.conversations[{number}]")
    ]


def _texts(value: Any, place: str) -> list[Fault]:
    wanted = f"a list of 1 to {MOST_PROMPTS} texts"
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PROMPTS:
        return [Fault(place, _kind(value), wanted, f"Write {place} as {wanted}")]
    return [
        Fault(f"{place}[{number}]", show(text), "a text", "Write a question there, in quotes if it looks like a number")
        for number, text in enumerate(value)
        if not isinstance(text, str) or not text.strip()
    ]


def _fitting(values: Case, place: str) -> list[Fault]:
    """What contradicts itself; also sets what follows from the rest."""
    faults = []
    if not values["name"].endswith(f"-{values['language']}"):
        wanted = f"a name that ends in -{values['language']}, its language"
        faults.append(_fault(f"{place}.name", values["name"], wanted))
    # The turns of a conversation repeat what was said before: they are cached however cold it began.
    talk = any(len(turns) > 1 for turns in values.get("conversations", ()))
    if values["cache"] == "cold" and values["max_share_cached"] is None and not talk:
        values["max_share_cached"] = SHARE_CACHED_COLD
    if values["shared_prefix"] and (values["cache"] == "cold" or values["prompt_tokens"] is None):
        wanted = "cache: warm and prompt_tokens with it, for all requests begin alike"
        faults.append(Fault(f"{place}.shared_prefix", "true", wanted, "Set both, or remove shared_prefix"))
    if values["shared_prefix"] and "conversations" in values:
        faults.append(Fault(f"{place}.shared_prefix", "true with conversations", "prompts", "Remove one of the two"))
    return faults
