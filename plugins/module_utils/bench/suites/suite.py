# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Suite files: which cases are played at which targets with which loads. Data, read from YAML on the controller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import LANGUAGES
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reader import Reader, is_number, is_whole
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import named_list, show

ENDPOINTS = ("chat", "completions", "responses")
LOADS = ("closed", "ladder", "open", "series", "soak")
# Words for targets: every gateway; one replica of each model; both; every replica; the address that clients use.
TARGETS = ("gateway", "direct", "both", "each-host", "entry")
NEEDS = ("gateway", "replicas")
MOST_USERS = 1024
MOST_ROUNDS = 50
MOST_REQUESTS = 100000

_WORD = re.compile(r"[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?")
_KEYS = ("name", "description", "rounds", "requests_per_user", "min_s", "needs", "pairs", "parts", "blocks")
_PART_KEYS = (
    "cases",
    "languages",
    "endpoints",
    "stream",
    "targets",
    "load",
    "concurrency",
    "rounds",
    "requests_per_user",
    "requests",
    "min_s",
    "to",
    "shares",
    "slice_s",
    "tag",
)
_BLOCK_KEYS = ("rounds", "chosen", "variants")
_REMEDY = "Name a suite file, or write one like those in roles/benchmark/files/suites"
_VARIANT_KEYS = ("name", "playbook", "extra_vars")


@dataclass(frozen=True)
class Part:
    """One part of a suite: some cases at some targets with one kind of load.

    :ivar cases: names with or without their language
    :ivar targets: one of ``TARGETS``
    :ivar load: one of ``LOADS``
    :ivar concurrency: users of closed loads and of a soak
    :ivar requests: requests of an open load or of a series
    :ivar top: most users of a ladder
    :ivar shares: rates of open loads, as shares of the rate at the knee
    :ivar slice_s: seconds of one round of a soak
    :ivar tag: what keeps its points apart from those of another part
    """

    cases: tuple[str, ...]
    languages: tuple[str, ...]
    endpoints: tuple[str, ...]
    stream: bool
    targets: str
    load: str
    concurrency: tuple[int, ...]
    rounds: int
    requests_per_user: int
    requests: int
    min_s: float
    top: int
    shares: tuple[float, ...]
    slice_s: float
    tag: str


@dataclass(frozen=True)
class Suite:
    """A suite.

    :ivar needs: of ``NEEDS``, what it cannot do without
    :ivar pairs: whether targets are compared with each other
    :ivar blocks: ``rounds``, ``chosen`` and ``variants`` of deployments; empty when it deploys nothing
    """

    name: str
    description: str
    needs: tuple[str, ...]
    pairs: bool
    parts: tuple[Part, ...]
    blocks: Mapping[str, Any]


UNREAD = Suite("unread", "", (), False, (), {})


def read_suite(document: Any, place: str) -> tuple[Suite | None, list[Fault]]:
    """Read one suite file; None when it cannot be used, with all that is wrong with it."""
    if not isinstance(document, Mapping):
        return None, [Fault(place, show(str(document)[:60]), "a mapping with name, description and parts", _REMEDY)]
    read = Reader(place, document)
    read.unknown(_KEYS)
    name = read.value("name", "", _is_word, "lower-case letters, digits and dashes", needed=True)
    description = read.value("description", "", _is_text, "a sentence", needed=True)
    needs = read.several("needs", (), NEEDS)
    pairs = read.value("pairs", False, _is_flag, "true or false")
    base = {
        "rounds": read.whole("rounds", 5, MOST_ROUNDS),
        "requests_per_user": read.whole("requests_per_user", 3, MOST_REQUESTS),
        "min_s": read.seconds("min_s", 0.0),
    }
    raw = document.get("parts")
    if not isinstance(raw, list) or not raw:
        read.faults.append(Fault(f"{place}.parts", show(raw), "a list of one part or more", _REMEDY))
        raw = []
    parts = []
    for number, entry in enumerate(raw):
        part, faults = _part(entry, f"{place}.parts[{number}]", base)
        parts += [part] if part else []
        read.faults += faults
    blocks = _blocks(read, document.get("blocks"), f"{place}.blocks")
    if read.faults:
        return None, read.faults
    return Suite(name, " ".join(description.split()), needs, pairs, tuple(parts), blocks), []


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _part(entry: Any, place: str, base: Mapping[str, Any]) -> tuple[Part | None, list[Fault]]:
    if not isinstance(entry, Mapping):
        return None, [Fault(place, show(entry), "a mapping with cases and targets", _REMEDY)]
    read = Reader(place, entry)
    read.unknown(_PART_KEYS)
    load = read.value("load", "closed", lambda value: value in LOADS, named_list(LOADS))
    part = Part(
        cases=read.all_of("cases", (), _is_word, "a list of names of cases", needed=True),
        languages=read.several("languages", ("en",), LANGUAGES),
        endpoints=read.several("endpoints", ("chat",), ENDPOINTS),
        stream=read.value("stream", True, _is_flag, "true or false"),
        targets=read.value("targets", "both", lambda value: value in TARGETS, named_list(TARGETS)),
        load=load,
        concurrency=read.all_of(
            "concurrency", (1,), lambda value: is_whole(value, MOST_USERS), f"numbers of users from 1 to {MOST_USERS}"
        ),
        rounds=read.whole("rounds", base["rounds"], MOST_ROUNDS),
        requests_per_user=read.whole("requests_per_user", base["requests_per_user"], MOST_REQUESTS),
        requests=read.whole("requests", 40 if load == "open" else 1, MOST_REQUESTS),
        min_s=read.seconds("min_s", base["min_s"]),
        top=read.whole("to", 64, MOST_USERS),
        shares=read.all_of(
            "shares", (0.5,), lambda value: is_number(value) and 0 < value <= 2, "shares above 0, 2 at most"
        ),
        slice_s=read.seconds("slice_s", 120.0),
        tag=read.value("tag", None, _is_word, "lower-case letters, digits and dashes") or "",
    )
    if part.slice_s < 1:
        read.faults.append(Fault(f"{place}.slice_s", show(part.slice_s), "one second or more", "Set it to 120"))
    return (None, read.faults) if read.faults else (part, [])


def _blocks(read: Reader, raw: Any, place: str) -> dict[str, Any]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        read.faults.append(Fault(place, show(raw), "a mapping with rounds and variants", _REMEDY))
        return {}
    mine = Reader(place, raw)
    mine.unknown(_BLOCK_KEYS)
    rounds = mine.whole("rounds", 3, MOST_ROUNDS)
    variants = mine.all_of("variants", (), _is_variant, "a list of mappings with name, playbook and extra_vars")
    names = [variant["name"] for variant in variants]
    chosen = mine.several("chosen", names[:2], names)
    read.faults += mine.faults
    return {"rounds": rounds, "variants": [dict(variant) for variant in variants], "chosen": list(chosen)}


def _is_variant(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == set(_VARIANT_KEYS)
        and _is_word(value["name"])
        and isinstance(value["playbook"], str)
        and isinstance(value["extra_vars"], Mapping)
    )
