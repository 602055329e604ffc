# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``preflight_info``: takes the host's part of the plan, and reads the host's clock against ours."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.wanted import wanted
from ansible_collections.dgxspark.serving.plugins.module_utils.rank_state import sha256
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import read_links
from ansible_collections.dgxspark.serving.plugins.plugin_utils import rank_files
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable

MODULE = "dgxspark.serving.preflight_info"


class ActionModule(ActionBase):
    """One round trip."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        host, hostvars = task_vars["inventory_hostname"], task_vars["hostvars"]
        plan = self._task.args.get("plan") or {}
        rank = (plan.get("ranks") or {}).get(host) or {}
        # Hosts that --limit leaves out have links, too.
        links = _Links(hostvars, _group(task_vars))
        arguments = {name: value for name, value in self._task.args.items() if name != "plan"}
        arguments |= {"rank": rank, "want": wanted(host, rank, links)}
        if rank:
            arguments["digests"] = {name: sha256(content) for name, content in vars(rank_files.rank_files()).items()}
        before = time.time()
        answer = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        after = time.time()
        if "now" in answer:
            # Within the time of the call the two clocks cannot be told apart.
            skew = min(answer["now"] - before, 0.0) + max(answer["now"] - after, 0.0)
            answer["facts"]["clock_skew"] = skew
        # With -v the table has every check; the answer itself would bury it.
        return {**result, **answer, "_ansible_verbose_override": True}


class _Links(Mapping[str, "list[dict[str, str]]"]):
    """The fabric links of hosts, each read when it is asked for: among many hosts, reading all for each takes long."""

    def __init__(self, hostvars: Mapping[str, Any], hosts: list[str]) -> None:
        self._hostvars = hostvars
        self._hosts = hosts

    def __getitem__(self, host: str) -> list[dict[str, str]]:
        if host not in self._hosts:
            raise KeyError(host)
        # What is wrong with them is for the plan to say.
        return read_links(variable(self._hostvars[host], "fabric_links"), host)[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)


def _group(task_vars: dict[str, Any]) -> list[str]:
    """All hosts of the play's group, in the order of the inventory."""
    return list(task_vars["groups"].get(task_vars.get("serving_group", "sparks"), task_vars["ansible_play_hosts_all"]))
