# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients' keys and other secrets of the gateway, read on the controller. No text of an error shows one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import (
    key_digest_placeholder,
    key_placeholder,
)

VARIABLE = "gateway_keys"
# Reads a file of the controller, decrypted when it is a vault's; raises OSError, or ValueError where it cannot be text.
Read = Callable[[str], str]

_ALLOWED = re.compile(r"[A-Za-z0-9._~+/=:-]+")
_WANTED = "letters, digits and ._~+/=:- alone, without spaces"
_NEW = "Make a new one, such as with: openssl rand -hex 24"
_ENV_NEEDED = ("DATABASE_URL", "LITELLM_MASTER_KEY")


def reason(error: Exception) -> str:
    """Why a file could not be read, without the path, which the fault names."""
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())


def read_keys(
    entries: Sequence[Mapping[str, Any]], names: Sequence[str], read: Read
) -> tuple[dict[str, str], list[Fault]]:
    """Keys by name, and all that is wrong with them.

    :param entries: ``gateway_keys``: ``name``, and ``key`` or ``file``
    :param names: keys that the description of the gateway has
    """
    keys: dict[str, str] = {}
    faults = []
    for number, entry in enumerate(entries):
        place, name = f"{VARIABLE}[{number}]", str(entry.get("name") or "")
        key, found = _key(place, entry, read)
        faults += found
        if name in keys:
            faults.append(Fault(f"{place}.name", f"{name!r} again", "a name of its own", "Rename one of the two"))
            continue
        twin = next((other for other, known in keys.items() if key and known == key), None)
        if twin is not None:
            wanted = "a key of its own, so that each can be revoked alone"
            faults.append(Fault(place, f"for {name} the same key as for {twin}", wanted, _NEW))
        keys[name] = key
    lacking = [name for name in names if name not in keys]
    for name in lacking:
        faults.append(Fault(VARIABLE, f"no key {name}", "one for each name of the plan", "Give it in this run, too"))
    return keys, faults


def _key(place: str, entry: Mapping[str, Any], read: Read) -> tuple[str, list[Fault]]:
    """One key, empty when it cannot be used, and why."""
    value, path = entry.get("key"), entry.get("file")
    if bool(value) == bool(path):
        remedy = "Write file: with a path on the controller, or key: with a value of the vault"
        return "", [Fault(place, "both key and file" if value else "neither key nor file", "one of them", remedy)]
    if path:
        place = f"{place}.file"
        try:
            value = read(str(path))
        except (OSError, ValueError) as error:
            remedy = "Correct the path, or let the user who runs Ansible read it"
            return "", [Fault(place, f"{path}: {reason(error)}", "a file that can be read on the controller", remedy)]
        # Editors end the last line.
        value = value.strip()
    else:
        place = f"{place}.key"
    if not value:
        return "", [Fault(place, f"{path} empty", "a key in it", _NEW)]
    if not _ALLOWED.fullmatch(str(value)):
        what = "a key with a space or line end in it" if len(str(value).split()) > 1 else "a key with other characters"
        return "", [Fault(place, what, _WANTED, _NEW)]
    return str(value), []


def secrets(keys: Mapping[str, str]) -> dict[str, str]:
    """The secrets that the gateway's files may need, by placeholder."""
    found = {}
    for name, key in keys.items():
        found[key_placeholder(name)] = key
        found[key_digest_placeholder(name)] = hashlib.sha256(key.encode()).hexdigest()
    return found


def read_environment(path: str, read: Read) -> tuple[str, list[Fault]]:
    """LiteLLM's own keys and database, as a file for systemd, and what is wrong with it."""
    variable = "gateway_litellm_env_file"
    remedy = f"Write lines NAME=value with {' and '.join(_ENV_NEEDED)}"
    try:
        text = read(path)
    except (OSError, ValueError) as error:
        return "", [Fault(variable, f"{path}: {reason(error)}", "a file that can be read on the controller", remedy)]
    there = {line.partition("=")[0].strip() for line in text.splitlines() if line.partition("=")[2].strip()}
    lacking = [name for name in _ENV_NEEDED if name not in there]
    faults = [Fault(variable, f"{path} without {', '.join(lacking)}", "both in it", remedy)] if lacking else []
    return text.rstrip("\n"), faults
