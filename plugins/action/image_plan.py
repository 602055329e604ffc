# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``image_plan``: says which host gets its image from where. Every host is told its own part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.fanout import chain
from ansible_collections.dgxspark.serving.plugins.module_utils.images import lock, room, spread
from ansible_collections.dgxspark.serving.plugins.plugin_utils.fabric_hosts import fabric_links
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable
from ansible_collections.dgxspark.serving.plugins.plugin_utils.lock_file import LockFileError, read_lock_file

NOTHING = {"image": None, "archive": None, "room": {}, "versions": {}}


class ActionModule(ActionBase):
    """The thin edge around :mod:`images.spread`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "plan": {"type": "dict", "required": True},
                "stage": {"type": "str", "choices": ["first", "second"], "required": True},
                "info_variable": {"type": "str", "required": True},
                "part_variable": {"type": "str", "default": ""},
                "before_variable": {"type": "str", "default": ""},
                "architecture": {"type": "str", "default": "arm64"},
                "tar": {"type": "str", "default": ""},
                "source": {"type": "str", "default": ""},
                "update": {"type": "bool", "default": False},
                "fan_out": {"type": "bool", "default": True},
                "network": {"type": "str", "choices": ["fabric", "any"], "default": "fabric"},
                "lock_file": {"type": "str", "default": ""},
            }
        )
        task_vars = task_vars or {}
        host, hostvars = task_vars["inventory_hostname"], task_vars["hostvars"]
        alive = task_vars["ansible_play_hosts"]
        wanted = {one: rank["container"]["image"] for one, rank in options["plan"]["ranks"].items() if one in alive}
        try:
            locks = read_lock_file(options["lock_file"])
        except LockFileError as error:
            return {**result, "failed": True, "msg": str(error)}
        wish = spread.Wish(
            architecture=options["architecture"],
            tar=options["tar"],
            source=options["source"],
            update=options["update"],
            fan_out=options["fan_out"],
            locks=locks,
            lock_path=options["lock_file"],
        )
        seen = {one: {**NOTHING, **(hostvars[one].get(options["info_variable"]) or {})} for one in wanted}
        ways = _Ways(task_vars, list(wanted), options["network"] == "any")
        if options["stage"] == "first":
            parts = spread.first(wanted, seen, wish, ways.meet)
        else:
            given = {one: spread.Part(**hostvars[one][options["part_variable"]]["part"]) for one in wanted}
            if self._task.check_mode:
                wish, seen = _as_if_got(wish, seen, given)
            parts = spread.second(wanted, given, seen, wish, ways.meet)
        # A host without a rank takes the same way, and does nothing.
        part = parts.get(host, spread.Part())
        if part.fault:
            return {**result, "failed": True, "msg": f"{host}: {part.fault}"}
        receivers = [one for one in wanted if part.gives and parts[one].receives and parts[one].key == part.key]
        answer = {
            "changed": False,
            "part": asdict(part),
            # The same on all hosts, so that they take the same way through the role.
            "settled": not any(one.source for one in parts.values()),
            "copies": any(one.receives for one in parts.values()),
            "offers": _offers(wanted, parts),
            "receivers": receivers,
            "layers": list((seen[part.source]["image"] or {}).get("layers") or ()) if part.source in seen else [],
        }
        if part.gives:
            Display().display(f"{host}: gives image {wanted[host]} to {', '.join(receivers)}")
        if part.source == host and options["update"] and options["stage"] == "second":
            before = hostvars[host].get(options["before_variable"]) or {}
            answer["changes"] = _changes({**NOTHING, **before}, seen[host])
            for line in answer["changes"] or ["the registry has nothing newer"]:
                Display().display(f"{host}: image {wanted[host]}: {line}")
        return {**result, **answer}


def _as_if_got(
    wish: spread.Wish, seen: Mapping[str, dict[str, Any]], parts: Mapping[str, spread.Part]
) -> tuple[spread.Wish, dict[str, dict[str, Any]]]:
    """In check mode nothing is pulled or loaded: what would be is taken to be what is wanted."""
    image = {"id": "", "repo_digests": [], "architecture": wish.architecture, "layers": [], "size": 0}
    got = {host: {**seen[host], "image": image if part.action else seen[host]["image"]} for host, part in parts.items()}
    return replace(wish, locks={}) if any(part.action for part in parts.values()) else wish, got


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What an update changes, a line each."""
    was = lock.entry(before["image"], before["versions"]) if before.get("image") else None
    return lock.changes(was, lock.entry(now["image"], now["versions"])) if now.get("image") else []


def _offers(wanted: Mapping[str, str], parts: Mapping[str, spread.Part]) -> dict[str, dict[str, Any]]:
    """What the role fanout is told of each host that gives or receives."""
    return {
        host: {"key": part.key, "what": f"image {wanted[host]}", "source": part.gives, "root": room.FOLDER}
        for host, part in parts.items()
        if part.gives or part.receives
    }


class _Ways:
    """Which hosts can be reached from which, over the fabric or, if that is allowed, any other way."""

    def __init__(self, task_vars: Mapping[str, Any], hosts: list[str], any_network: bool) -> None:
        group = task_vars.get("serving_group", "sparks")
        self._hosts = hosts
        # What is wrong with the links is for the plan to say.
        self._links = fabric_links(task_vars, group)[0]
        hostvars = task_vars["hostvars"]
        self._addresses = {host: str(variable(hostvars[host], "ansible_host") or host) for host in hosts}
        self._any = any_network
        self._reached: dict[str, set[str]] = {}

    def meet(self, source: str, host: str) -> bool:
        """Whether a chain from the source gets to the host."""
        if source not in self._reached:
            made, _faults = chain.plan(source, self._hosts, self._links, self._addresses if self._any else None)
            self._reached[source] = set(made)
        return host in self._reached[source]
