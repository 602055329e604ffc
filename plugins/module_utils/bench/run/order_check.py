# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be right in an order before anything is asked of a server: all faults at once. Pure.

The controller checks what users write; this is the last look, so that no round fails for a reason that was there
before the first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault

ENDPOINTS = ("chat", "completions", "responses")
LOADS = ("closed", "open", "series")
MOST_USERS = 1024
# Ids are names of files.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIMITS = ("connect_s", "ttft_s", "idle_s", "total_s")


def order_faults(order: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with an order."""
    missing = [key for key in ("run", "targets", "cases", "rounds", "limits", "goodput") if key not in order]
    if missing:
        remedy = "Give what dgxspark.serving.benchmark_plan returns as order"
        return [Fault("order", f"no {', '.join(missing)}", "a whole order", remedy)]
    faults = [fault for place, target in enumerate(order["targets"]) for fault in _target(place, target)]
    faults += _twice("targets", [target["name"] for target in order["targets"]])
    faults += _twice("cases", [case["name"] for case in order["cases"]])
    faults += _twice("rounds", [spec["id"] for spec in order["rounds"]])
    names = {
        "target": [target["name"] for target in order["targets"]],
        "case": [case["name"] for case in order["cases"]],
        "endpoint": ENDPOINTS,
    }
    for place, spec in enumerate(order["rounds"]):
        faults += _round(f"order.rounds[{place}]", spec, names)
    for name in _LIMITS:
        if not order["limits"].get(name, 0) > 0:
            faults.append(_number(f"order.limits.{name}", order["limits"].get(name), "seconds above 0"))
    if not order["rounds"]:
        faults.append(Fault("order.rounds", "none", "one round or more", "Choose a suite that measures something"))
    return faults


def _target(place: int, target: Mapping[str, Any]) -> Iterable[Fault]:
    where = f"order.targets[{place}]"
    parts = urlsplit(target["url"])
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield Fault(f"{where}.url", repr(target["url"]), "http://HOST:PORT or https://HOST:PORT", "Correct the URL")
    if not target["served_model_name"]:
        remedy = "Give the name that /v1/models shows"
        yield Fault(f"{where}.served_model_name", "nothing", "the name that the server serves", remedy)
    files = [("key_file", target.get("key_file", ""))]
    files += [(f"engines[{n}].key_file", one.get("key_file", "")) for n, one in enumerate(target.get("engines", []))]
    for name, path in files:
        if path and not path.startswith("/"):
            # It may be the key itself, so it is not shown.
            found, wanted = f"{len(path)} characters that are no path", "the absolute path of a file with the key"
            yield Fault(f"{where}.{name}", found, wanted, "Write the key into a file of mode 0600 and give its path")


def _round(where: str, spec: Mapping[str, Any], names: Mapping[str, Iterable[str]]) -> Iterable[Fault]:
    if not _ID.fullmatch(str(spec["id"])):
        yield Fault(f"{where}.id", repr(spec["id"]), "letters, digits, '.', '_' and '-'", "Correct the id")
    for key, known in names.items():
        if spec[key] not in known:
            yield Fault(f"{where}.{key}", repr(spec[key]), f"one of {', '.join(known)}", "Correct the name")
    load = spec["load"]
    if load["model"] not in LOADS:
        yield Fault(f"{where}.load.model", repr(load["model"]), f"one of {', '.join(LOADS)}", "Correct the name")
        return
    if not load.get("requests", 0) >= 1:
        yield _number(f"{where}.load.requests", load.get("requests"), "1 or more")
    if load["model"] == "closed" and not 1 <= load.get("n", 0) <= MOST_USERS:
        yield _number(f"{where}.load.n", load.get("n"), f"1 to {MOST_USERS}")
    if load["model"] == "closed" and load.get("min_s", 0) < 0:
        yield _number(f"{where}.load.min_s", load["min_s"], "0 or more seconds")
    if load["model"] == "open" and not (load.get("rate") or load.get("share") or 0) > 0:
        yield _number(f"{where}.load.rate", load.get("rate"), "more than 0, or a share of the knee above 0")


def _number(place: str, found: Any, wanted: str) -> Fault:
    return Fault(place, "nothing" if found is None else str(found), wanted, "Correct the number")


def _twice(key: str, names: list[str]) -> Iterable[Fault]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Fault(f"order.{key}", f"{name!r} more than once", "names that differ", "Give each its own name")
