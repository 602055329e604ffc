# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark_second_source``: follows the module, and keeps what the second source has written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import points_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import choice, comparison
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError
from ansible_collections.dgxspark.serving.plugins.plugin_utils import bench_files
from ansible_collections.dgxspark.serving.plugins.plugin_utils.followed import FollowedAction

FOLDER = "second_source"


class ActionModule(FollowedAction):
    """Follows the module; whatever goes wrong becomes a note of the report."""

    MODULE = "dgxspark.serving.benchmark_second_source"
    _wanted: dict[str, Any]

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "wanted": {"type": "dict", "required": True},
                "order": {"type": "dict", "required": True},
                "results": {"type": "path", "required": True},
            }
        )
        wanted, folder = options["wanted"], Path(options["results"])
        if self._task.check_mode:
            said = _would(wanted)
            Display().display(said)
            return {"changed": False, "skipped": True, "msg": said}
        if wanted["points"]:
            try:
                rounds = bench_files.rounds_in(folder / bench_files.ROUNDS)
            except ConfigurationError:
                rounds = []  # the report says which of them cannot be read
            wanted = choice.with_prompts(wanted, points_of(rounds, options["order"]))
        found = self._asked(wanted, tmp, task_vars) if wanted["points"] else {"notes": list(wanted["notes"])}
        kept = [_kept(one, folder, found["notes"]) for one in found.get("asked") or ()]
        asked = [one for one in kept if one]
        for note in found["notes"]:
            Display().display(note)
        section = {"host": wanted["host"], "program": "", "version": "", **found, "asked": asked}
        return {"changed": False, "second_source": section}

    def what(self, arguments: dict[str, Any]) -> str:
        return f"vllm-rs bench serve on {arguments['wanted']['host']}"

    def arguments(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        return {"wanted": self._wanted}

    def _asked(self, wanted: dict[str, Any], tmp: Any, task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """What the module says."""
        self._wanted = wanted
        try:
            answer = super().run(tmp, task_vars)
        except AnsibleConnectionFailure as error:
            answer = {"failed": True, "msg": " ".join(str(error).split())}
        if answer.get("failed") or "second_source" not in answer:
            why = answer.get("msg") or "it ended without an answer"
            return {"notes": [f"vllm-rs gave no result on {wanted['host']}: {why}"]}
        found: dict[str, Any] = answer["second_source"]
        return found


def _kept(one: Mapping[str, Any], folder: Path, notes: list[str]) -> dict[str, Any] | None:
    """One result with its figures; its JSON is written into the run's folder."""
    document = one["document"]
    name = f"{one['point'].replace('/', '-').replace(':', '-')}.json"
    try:
        figures = comparison.figures_of(document)
        bench_files.write_all(folder / FOLDER, {name: f"{json.dumps(document)}\n".encode()})
    except (ValueError, ConfigurationError) as error:
        notes.append(f"The result of vllm-rs for {one['point']} cannot be used: {error}")
        return None
    return {"point": one["point"], "file": f"{FOLDER}/{name}", "figures": figures}


def _would(wanted: Mapping[str, Any]) -> str:
    if not wanted["points"]:
        return " ".join(wanted["notes"]) or "No second source is asked."
    points = ", ".join(f"{one['point']} ({one['requests']} requests)" for one in wanted["points"])
    return (
        f"vllm-rs bench serve would ask {wanted['url']} from within {wanted['container']} on {wanted['host']}: {points}"
    )
