# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the variables ask of the gateway, read and checked; no replica is needed to know it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.options import OPTIONS
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import Unreadable, read, show

KEYS = "gateway_keys"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@dataclass(frozen=True)
class Wish:
    """:ivar hosts: where the gateway runs; empty without one
    :ivar values: of the variables in ``options.OPTIONS``, by their names without the prefix
    :ivar keys: names of the keys that clients may show; without any, nobody is asked for one
    """

    hosts: tuple[str, ...]
    values: Mapping[str, Any]
    keys: tuple[str, ...] = ()


NONE = Wish((), {})


def read_wish(
    variables: Mapping[str, Any], extra: Mapping[str, Any], group: Sequence[str], heads: Sequence[str]
) -> tuple[Wish, list[Fault]]:
    """Read what is asked for.

    :param variables: those of the first host, by name
    :param extra: what was given with ``-e``
    :param group: all hosts of the group
    :param heads: the host of rank 0 of each replica
    """
    faults = []
    values: dict[str, Any] = {}
    for option in OPTIONS:
        place = f"-e {option.name}" if option.name in extra else option.name
        value, fault = read(option, extra.get(option.name, variables.get(option.name)), place)
        values[option.name.removeprefix("gateway_")] = value
        faults += [fault] if fault else []
    keys, more = _key_names(extra.get(KEYS, variables.get(KEYS)))
    faults += more
    enabled = values["enabled"] if values["enabled"] is not None else len(heads) > 1
    hosts = tuple(dict.fromkeys(map(str, values["hosts"] or heads[:1])))
    for host in hosts:
        if host not in group:
            wanted = f"a host of the group ({', '.join(group)})"
            faults.append(Fault("gateway_hosts", show(host), wanted, f"Add {host} to the group, or name another host"))
    if not enabled:
        return NONE, faults
    return Wish(tuple(host for host in hosts if host in group), values, keys), faults


def _key_names(raw: Any) -> tuple[tuple[str, ...], list[Fault]]:
    """The names of ``gateway_keys``. A fault never shows what stands there: it may be a key."""
    wanted = "a list of mappings with name, and key or file"
    remedy = (
        f"Write {KEYS} as - {{name: laptop, file: /home/me/.dgxspark/laptop.key}}, or key: with a value of the vault"
    )
    if raw in (None, ""):
        return (), []
    if isinstance(raw, Unreadable):
        return (), [Fault(KEYS, show(raw), wanted, remedy)]
    if not isinstance(raw, (list, tuple)):
        return (), [Fault(KEYS, "something else", wanted, remedy)]
    names, faults = [], []
    for number, entry in enumerate(raw):
        place = f"{KEYS}[{number}]"
        if not isinstance(entry, Mapping) or bool(entry.get("key")) == bool(entry.get("file")):
            faults.append(Fault(place, "something else", "a mapping with name, and key or file", remedy))
            continue
        name = str(entry.get("name") or "")
        if not _NAME.fullmatch(name):
            faults.append(
                Fault(f"{place}.name", show(name), "letters, digits, dots, dashes, at most 40", "Name the key")
            )
        elif name in names:
            faults.append(Fault(f"{place}.name", show(name), "a name of its own", "Rename one of the two"))
        names.append(name)
    return tuple(names), faults
