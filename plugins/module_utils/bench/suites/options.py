# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may say of a benchmark: the variables ``benchmark_*`` without their prefix, and the check of them.

They are described in the role's ``meta/argument_specs.yml``; a test holds the two against each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import LANGUAGES, MOST_TOKENS
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import comparable, comparison_text, margins
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second.choice import NONE, SOURCES
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reader import (
    MOST_SECONDS,
    is_number,
    is_whole,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import (
    ENDPOINTS,
    MOST_REQUESTS,
    MOST_ROUNDS,
    MOST_USERS,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variable import Variable
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import misspelt_key, named_list, read, show

PREFIX = "benchmark_"
AUTO = "auto"
LAG = ("p99_ms", "share")
GOODPUT = ("ttft_ms", "tpot_ms", "e2el_ms")
# Seconds of the client: for a connection, to the first byte, between two of them, for a request in all.
TIMEOUTS = {"connect": 10.0, "ttft": 300.0, "idle": 120.0, "total": 1800.0}
# Characters of what is wanted that a fault says twice.
MOST_WORDS = 80
_LABEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,59})?")
# The client speaks plain TCP to a proxy.
_PROXY = re.compile(r"(http://[^\s/@]+)?/?")


def _option(key: str, kind: str, default: Any = None, **more: Any) -> Variable:
    return Variable(PREFIX + key, kind, "", default=default, scope="all", **more)


OPTIONS = (
    _option("suite", "str", "quick", short="suite"),
    _option("cases", "list", []),
    _option("languages", "list", []),
    _option("case_files", "list", []),
    _option("targets", "list", []),
    _option("endpoints", "list", []),
    _option("concurrency", "list", []),
    _option("rounds", "int", minimum=1, maximum=MOST_ROUNDS),
    _option("requests_per_user", "int", minimum=1, maximum=MOST_REQUESTS),
    _option("min_seconds", "float", minimum=0, maximum=MOST_SECONDS),
    _option("output_tokens", "int", minimum=1, maximum=MOST_TOKENS),
    _option("prompt_tokens", "int", minimum=1, maximum=MOST_TOKENS),
    _option("soak_minutes", "int", 60, minimum=1, maximum=10080),
    _option("client", "str", AUTO),
    _option("seed", "int", 1, minimum=0, maximum=2**31 - 1),
    _option("label", "str", ""),
    _option("goodput", "dict", {}),
    _option("timeouts", "dict", {}),
    _option("client_lag", "dict", {}),
    _option("proxy", "str", ""),
    _option("continuous_usage", "bool", False),
    _option("api_key_file", "str", ""),
    _option("ca_file", "str", ""),
    _option("verify_tls", "bool", True),
    _option("results", "str", "results"),
    _option("resume", "str", ""),
    _option("baseline", "str", "", short="baseline"),
    _option("margins", "dict", {}),
    _option("allow_differences", "list", []),
    _option("fail_on", "str", "regression", choices=comparison_text.FAIL_ON),
    _option("layouts", "list", []),
    _option("sweep_setting", "str", ""),
    _option("sweep_values", "list", []),
    _option("restore", "bool", True),
    _option("block", "str", ""),
    _option("snapshots", "bool", True),
    _option("self_test", "bool", True),
    _option("second_source", "str", NONE, choices=SOURCES),
    _option("pictures", "bool", True),
)
KEYS = tuple(option.name.removeprefix(PREFIX) for option in OPTIONS)

# What each entry of a list must be, and in which words.
_ENTRIES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "cases": (lambda value: isinstance(value, str) and bool(value), "names of cases"),
    "languages": (lambda value: value in LANGUAGES, named_list(LANGUAGES)),
    "case_files": (lambda value: isinstance(value, str) and bool(value), "paths on the controller"),
    "targets": (lambda value: isinstance(value, str) and bool(value), "names of targets"),
    "endpoints": (lambda value: value in ENDPOINTS, named_list(ENDPOINTS)),
    "concurrency": (lambda value: is_whole(value, MOST_USERS), f"whole numbers from 1 to {MOST_USERS}"),
    "allow_differences": (
        lambda value: value in (*comparable.KEYS, comparable.ALL),
        f"{comparable.ALL}, or some of {', '.join(comparable.KEYS)}",
    ),
    "layouts": (lambda value: isinstance(value, str) and bool(value), "names of layouts"),
}


def read_options(raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Read the variables.

    :param raw: what the user wrote, by variable name without its prefix; what is left out has its default
    :returns: all options by key, and all that is wrong with them
    """
    faults = [replace(misspelt_key("", str(key), KEYS), variable=f"{PREFIX}{key}") for key in raw if key not in KEYS]
    values: dict[str, Any] = {}
    for option in OPTIONS:
        key = option.name.removeprefix(PREFIX)
        value = _listed(raw.get(key)) if option.kind == "list" else raw.get(key)
        values[key], fault = read(option, value, option.name)
        faults += [fault] if fault else []
    for key, (check, wanted) in _ENTRIES.items():
        values[key] = [_as_number(entry) for entry in values[key]] if key == "concurrency" else values[key]
        faults += _entry_faults(key, values[key], check, wanted)
        # What is right of it counts, so that later faults are said with these.
        values[key] = [entry for entry in values[key] if check(entry)]
    faults += _figures(values, "goodput", GOODPUT, "a number of milliseconds above 0", lambda value: value > 0)
    faults += _figures(values, "client_lag", LAG, "a number above 0", lambda value: value > 0)
    within = f"a number of seconds above 0, {MOST_SECONDS} at most"
    faults += _figures(values, "timeouts", tuple(TIMEOUTS), within, lambda value: 0 < value <= MOST_SECONDS)
    faults += _margin_faults(values)
    for key, pattern, wanted in (
        (
            "label",
            _LABEL,
            "a word of letters, digits, '.', '_' and '-', 60 at most, for it becomes the name of a folder",
        ),
        ("proxy", _PROXY, "http://HOST:PORT without a user"),
    ):
        if not pattern.fullmatch(values[key]):
            # A proxy may hold a password.
            found = show(values[key]) if key == "label" else "another text"
            if values[key].startswith("https:"):
                found = "https://, and the client speaks no TLS to a proxy"
            faults.append(Fault(PREFIX + key, found, wanted, f"Set it to {wanted}"))
    return values, faults


def limits_of(values: Mapping[str, Any]) -> dict[str, float]:
    """The client's own timeouts, as an order has them."""
    given = {key: value for key, value in values["timeouts"].items() if value is not None}
    return {f"{key}_s": float(given.get(key, default)) for key, default in TIMEOUTS.items()}


def client_lag_of(values: Mapping[str, Any]) -> dict[str, float]:
    """The lag of the client beyond which a round does not count, as an order has it: what is not said is left out."""
    return {key: float(value) for key, value in values["client_lag"].items() if value is not None}


def goodput_of(values: Mapping[str, Any]) -> dict[str, float | None]:
    """The limits of a good request, as an order has them."""
    return {key: values["goodput"].get(key) for key in GOODPUT}


def _listed(value: Any) -> Any:
    """A list that was given as text with ``-e``: ``1,4,8``."""
    if isinstance(value, str) and value:
        return [entry.strip(" '\"") for entry in value.strip(" []").split(",") if entry.strip()]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _as_number(value: Any) -> Any:
    """The number that a text is; anything else as it was."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _entry_faults(key: str, values: list[Any], check: Callable[[Any], bool], wanted: str) -> list[Fault]:
    place = PREFIX + key
    # A long list is said once.
    remedy = f"Write {place} as a list of {wanted}" if len(wanted) <= MOST_WORDS else "Correct it, or take it out"
    return [
        Fault(f"{place}[{number}]", show(value), wanted, remedy)
        for number, value in enumerate(values)
        if not check(value)
    ] + [
        Fault(place, f"{show(value)} twice", "each entry once", "Remove one of the two")
        for value in dict.fromkeys(str(value) for value in values)
        if [str(other) for other in values].count(value) > 1
    ]


def _figures(
    values: dict[str, Any], key: str, known: tuple[str, ...], wanted: str, check: Callable[[float], bool]
) -> list[Fault]:
    """Check a mapping of numbers, and read those that came as text; null leaves one out."""
    place = PREFIX + key
    faults = [misspelt_key(place, name, known) for name in values[key] if name not in known]
    found: dict[str, Any] = {}
    for name, value in values[key].items():
        number = _float(value)
        if value is not None and (number is None or not check(number)):
            faults.append(Fault(f"{place}.{name}", show(value), wanted, f"Set it to {wanted}, or to null"))
        found[name] = number
    values[key] = found
    return faults


def _margin_faults(values: dict[str, Any]) -> list[Fault]:
    """Hold the margins against the rule of those who compare, and read those that came as text."""
    read_as = {name: _float(value) for name, value in values["margins"].items()}
    values["margins"] = {
        name: value if read_as[name] is None else read_as[name] for name, value in values["margins"].items()
    }
    try:
        margins.laid_over(values["margins"], f"{PREFIX}margins")
    except ConfigurationError as error:
        return list(error.faults)
    return []


def _float(value: Any) -> float | None:
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return number if is_number(number) else None
