# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user adds to an engine's command line and environment, joined with what the plan says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE, ModelReference
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import BY_KEY, read, show

_SHARE = BY_KEY["gpu_memory_utilization"]


def one_spelling(flag: str, aliases: Mapping[str, str]) -> str:
    """A flag's one name: without leading dashes, with dashes for underscores, long.

    What follows a dot is a key of the flag's own mapping and stays as it is.

    >>> one_spelling("--compilation_config.cudagraph_mode", {})
    'compilation-config.cudagraph_mode'
    """
    head, dot, rest = flag.lstrip("-").partition(".")
    head = head.replace("_", "-")
    return f"{aliases.get(head, head)}{dot}{rest}"


def render(arguments: Mapping[str, Any], with_negation: bool) -> list[str]:
    """Turn flags, by their one name, into arguments, in the mapping's order.

    ``True`` gives the bare flag, a list several values, a mapping JSON; ``None`` and empty text leave the flag out.

    :param with_negation: whether ``False`` gives a ``--no-`` form; otherwise it leaves the flag out
    """
    argv: list[str] = []
    for name, value in arguments.items():
        if value is None or value == "":
            continue
        if value is True:
            argv.append(f"--{name}")
        elif value is False:
            argv += [f"--no-{name}"] if with_negation else []
        elif isinstance(value, Mapping):
            argv += [f"--{name}", json.dumps(value, sort_keys=True, separators=(",", ":"))]
        elif isinstance(value, (list, tuple)):
            argv += [f"--{name}", *map(str, value)]
        else:
            argv += [f"--{name}", str(value)]
    return argv


def revision(model: ModelReference, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The flag that names the snapshot in the mounted cache; a folder has only one."""
    return {"revision": settings["model_revision"]} if model.hub == HUGGING_FACE else {}


def argument_faults(
    arguments: Mapping[str, Any],
    named: Callable[[str], str],
    decided: Mapping[str, str],
    secret: Mapping[str, str],
    share_flag: str,
    place: str,
    host: str,
) -> list[Fault]:
    """Flags that contradict the plan, show a secret, stand twice, or ask for more memory than a host can spare.

    :param named: gives a flag's one name
    :param decided: flags that the plan decides, by that name, and the variable that decides each
    :param secret: flags whose value is a secret, by that name, and the remedy for each
    :param share_flag: the flag that says which share of the memory the engine takes
    """
    faults = []
    seen: dict[str, str] = {}
    for flag in arguments:
        name = named(flag)
        # The engines' parsers take a flag's beginning for the flag.
        known = {**decided, **secret}
        meant = name if name in known else next((full for full in known if full.startswith(name)), "")
        if meant in secret:
            faults.append(secret_fault(f"{place}.{flag}", secret[meant], host))
        elif meant:
            remedy = f"Remove it and set {decided[meant]}"
            faults.append(Fault(f"{place}.{flag}", show(arguments[flag]), "no such key", remedy, host))
        if name == share_flag:
            fault = read(_SHARE, arguments[flag], f"{place}.{flag}", host)[1]
            faults += [fault] if fault else []
        if name in seen:
            found = f"the same flag as {seen[name]}"
            faults.append(Fault(f"{place}.{flag}", found, "each flag once", f"Remove {flag}", host))
        seen[name] = flag
    return faults


def secret_fault(variable: str, remedy: str, host: str) -> Fault:
    """A secret where every user of Docker on the host could read it; it is not shown here either."""
    return Fault(variable, "a secret, which docker inspect would show", "no such key", remedy, host)


def memory_share(settings: Mapping[str, Any], named: Callable[[str], str], share_flag: str) -> float:
    """The share of the memory (0 to 1) that the engine is told to take: the user's flag goes before our variable."""
    for flag, value in settings["engine_args"].items():
        if named(flag) == share_flag and value not in (None, ""):
            return read(_SHARE, value, share_flag)[0]
    return settings["gpu_memory_utilization"]


def environment(ours: Mapping[str, str], users: Mapping[str, Any]) -> dict[str, str]:
    """Our variables and the user's, which win; one that the user leaves empty is not set.

    Nothing is rendered empty: an empty value means something else to NCCL and to engines than no value (N17).
    """
    joined = {**ours, **{name: _text(value) for name, value in users.items()}}
    return {name: value for name, value in joined.items() if value}


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)
