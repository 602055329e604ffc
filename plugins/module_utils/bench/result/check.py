# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a document is a result of the benchmark that this version can read.

The part of JSON Schema that :mod:`schema` uses is checked here, so that nothing need be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import schema
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault

# A broken file has one cause: its first faults tell it.
MOST_FAULTS = 8


def faults(document: Any, place: str) -> list[Fault]:
    """What keeps the document from being read.

    :param place: where it came from, for example the file's name
    """
    named = document.get("schema") if isinstance(document, Mapping) else None
    if named != schema.NAME:
        return [_other_schema(document, named, place)]
    return [
        Fault(f"{place}: {path}", found, wanted, "Take a result.json as this collection wrote it")
        for path, found, wanted in _first(_walk(document, schema.schema(), "$"))
    ]


def _other_schema(document: Any, named: Any, place: str) -> Fault:
    wanted = f"a result of this collection's benchmark, schema {schema.NAME}"
    if not isinstance(document, Mapping):
        return Fault(place, f"{_kind(document)}", wanted, "Give the result.json of a run")
    if isinstance(named, str) and named.startswith(schema.FAMILY):
        remedy = "Read it with the version of dgxspark.serving that wrote it, or measure again"
        return Fault(f"{place}: schema", named, schema.NAME, remedy)
    found = "no schema" if named is None else f"schema {str(named)[:60]!r}"
    return Fault(place, found, wanted, "Bring another tool's file in with the module benchmark_import")


def _first(found: Iterator[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [one for _number, one in zip(range(MOST_FAULTS), found, strict=False)]


def _walk(value: Any, rule: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """(path, found, wanted) of each thing that is not as the rule has it."""
    if "const" in rule and value != rule["const"]:
        yield path, _brief(value), repr(rule["const"])
    elif "enum" in rule and not any(
        value is one or (type(value) is type(one) and value == one) for one in rule["enum"]
    ):
        yield path, _brief(value), "one of " + ", ".join(str(one) for one in rule["enum"])
    elif "type" in rule and not _is_one_of(value, rule["type"]):
        yield path, _kind(value), _named(rule["type"])
    elif isinstance(value, Mapping):
        yield from _walk_object(value, rule, path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(item, rule.get("items", {}), f"{path}[{number}]")
    elif "minimum" in rule and value is not None and value < rule["minimum"]:
        yield path, _brief(value), f"{rule['minimum']} or more"


def _walk_object(value: Mapping[str, Any], rule: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    for name in rule.get("required", ()):
        if name not in value:
            yield f"{path}.{name}", "nothing", "this key"
    known = rule.get("properties", {})
    for name, item in value.items():
        if "propertyNames" in rule:
            yield from _walk(name, rule["propertyNames"], f"{path}.{name}")
        yield from _walk(item, known.get(name, rule.get("additionalProperties", {})), f"{path}.{name}")


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}


def _is_one_of(value: Any, types: str | Sequence[str]) -> bool:
    return any(_TYPES[name](value) for name in _names(types))


def _names(types: str | Sequence[str]) -> Sequence[str]:
    return [types] if isinstance(types, str) else types


def _named(types: str | Sequence[str]) -> str:
    return " or ".join(_names(types))


def _kind(value: Any) -> str:
    return next(
        name for name in ("object", "array", "string", "boolean", "null", "integer", "number") if _TYPES[name](value)
    )


def _brief(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 60 else said[:57] + "..."
