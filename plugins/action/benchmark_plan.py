# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark_plan``: reads variables, cases and suites on the controller and orders the benchmark."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.vars import load_extra_vars

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import Case, read_case
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import laid
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.options import KEYS, PREFIX, read_options
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.order import Surroundings, make_order
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.reach import LOCALHOST
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.resume import (
    blocks_fault,
    resumed,
    with_files,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import UNREAD, Suite, read_suite
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.targets import API_KEY, CA
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.variants import present_args
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import Unreadable, show
from ansible_collections.dgxspark.serving.plugins.plugin_utils.bench_files import result_in, write_all
from ansible_collections.dgxspark.serving.plugins.plugin_utils.host_variables import variable

FILES = Path(__file__).resolve().parents[2] / "roles" / "benchmark" / "files"
SUFFIX = ".yml"
ORDER = "order.json"
BLOCKS = "blocks.json"
# Short names that `-e` takes as well.
SHORT = ("suite", "baseline")
ENGINE_ARGS = "serving_engine_args"
# The variables that are files on the controller, and what each of them is.
FILE_OPTIONS = {"api_key_file": "a file with a client's key", "ca_file": "a file with certificates"}


class ActionModule(ActionBase):
    """The thin edge around :func:`make_order`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(argument_spec={"plan": {"type": "dict", "required": True}})
        try:
            return {**result, **self._planned(arguments["plan"], task_vars or {})}
        except ConfigurationError as error:
            return {**result, "failed": True, "msg": str(error)}

    def _planned(self, plan: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """The answer.

        :raises ConfigurationError: with every fault
        """
        values, faults = read_options(self._wishes(task_vars))
        suite, more = self._suite(values["suite"])
        faults += more
        cases, own, more = self._cases(values["case_files"])
        faults += more + _file_faults(values)
        old, old_blocks, more = _interrupted(values["resume"])
        faults += more
        try:
            made = make_order(values, suite or UNREAD, self._surroundings(plan, cases, own, task_vars))
        except ConfigurationError as error:
            raise ConfigurationError([*faults, *error.faults]) from error
        if faults:
            raise ConfigurationError(faults)
        folder = _path(values["resume"]) if values["resume"] else _new_folder(values["results"], made["order"]["run"])
        if values["resume"]:
            made["order"], more = resumed(old, made["order"], values["resume"])
            fault = blocks_fault(old_blocks, made["blocks"], values["resume"])
            if more or fault:
                raise ConfigurationError([*more, *([fault] if fault else [])])
        elif not self._task.check_mode:
            write_all(folder, {ORDER: _json(made["order"]), BLOCKS: _json(made["blocks"])})
        return {
            **made,
            **_laid(made["order"], made["client"], values),
            "folder": str(folder),
            "resumed": bool(values["resume"]),
            "baseline": str(_path(values["baseline"])) if values["baseline"] else "",
            "options": values,
            "changed": not values["resume"],
        }

    def _wishes(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """The variables of the benchmark, with ``-e suite=`` in place of ``benchmark_suite``."""
        found = {}
        for key in KEYS:
            short = key if key in SHORT and key in task_vars else ""
            name = short or PREFIX + key
            if name in task_vars:
                found[key] = self._templated(task_vars[name])
        return found

    def _templated(self, value: Any) -> Any:
        try:
            return self._templar.template(value)
        except AnsibleError as error:
            return Unreadable(" ".join(str(error).split()))

    def _surroundings(
        self, plan: Mapping[str, Any], cases: Mapping[str, Case], own: list[str], task_vars: Mapping[str, Any]
    ) -> Surroundings:
        hostvars = task_vars["hostvars"]
        hosts = list(task_vars["groups"]["all"])
        extra = load_extra_vars(self._loader)
        first = (plan.get("replicas") or [{"hosts": hosts}])[0]["hosts"][0]
        return Surroundings(
            plan=plan,
            cases=cases,
            own_cases=own,
            hosts=hosts,
            links={host: variable(hostvars[host], "fabric_links") or [] for host in hosts},
            extra=list(extra),
            engine_args=self._engine_args(hostvars[first], extra),
            now=time.time(),
            nonce=secrets.token_hex(8),
        )

    def _engine_args(self, first: Mapping[str, Any], extra: Iterable[str]) -> Any:
        args = variable(first, ENGINE_ARGS)
        return args if ENGINE_ARGS in extra else present_args(args, variable(first, "serving_deployments"))

    def _suite(self, name: str) -> tuple[Suite | None, list[Fault]]:
        """A suite by its name, or by the path of its file."""
        own = name.endswith((SUFFIX, ".yaml")) or "/" in name
        path = _path(name) if own else FILES / "suites" / f"{name}{SUFFIX}"
        if not path.is_file():
            known = ", ".join(sorted(file.stem for file in (FILES / "suites").glob(f"*{SUFFIX}")))
            return None, [Fault("suite", show(name), known, "Name one of these, or the path of a file of your own")]
        document, fault = self._document(path)
        return (None, [fault]) if fault else read_suite(document, path.name)

    def _cases(self, files: Iterable[str]) -> tuple[dict[str, Case], list[str], list[Fault]]:
        """All cases by name, the names of the user's own, and all that is wrong with the files."""
        found: dict[str, Case] = {}
        faults: list[Fault] = []
        own = []
        for path in sorted((FILES / "cases").glob(f"*{SUFFIX}")):
            found |= self._case(path, path.name, faults)
        for number, file in enumerate(files):
            place, path = f"{PREFIX}case_files[{number}]", _path(file)
            if not path.is_file():
                faults.append(Fault(place, f"{show(file)}, which is no file", "a case file", "Correct the path"))
                continue
            case = self._case(path, path.name, faults)
            if found.keys() & case.keys():
                taken = ", ".join(case)
                faults.append(Fault(f"{path.name}.name", show(taken), "a name that no other case has", "Rename it"))
            own += list(case)
            found |= case
        return found, own, faults

    def _case(self, path: Path, place: str, faults: list[Fault]) -> dict[str, Case]:
        document, fault = self._document(path)
        if fault:
            faults.append(fault)
            return {}
        case, more = read_case(document, place)
        faults += more
        return {case["name"]: case} if case else {}

    def _document(self, path: Path) -> tuple[Any, Fault | None]:
        try:
            return self._loader.load(path.read_text(encoding="utf-8"), file_name=str(path)), None
        except (AnsibleError, OSError, UnicodeDecodeError) as error:
            why = " ".join(str(getattr(error, "strerror", None) or error).split())[:200]
            return None, Fault(str(path), f"what cannot be read ({why})", "a file of YAML", "Correct the file")


def _interrupted(folder: str) -> tuple[Any, Any, list[Fault]]:
    """The order and the blocks of an interrupted run; None when there is no folder to go on with."""
    if not folder:
        return None, None, []
    try:
        order, blocks = (json.loads((_path(folder) / name).read_text(encoding="utf-8")) for name in (ORDER, BLOCKS))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not JSON"
        found = f"{folder}, whose {ORDER} or {BLOCKS} cannot be read ({why})"
        remedy = "Name the folder of an interrupted run, results/RUN"
        return None, None, [Fault(f"{PREFIX}resume", found, "a folder of a run", remedy)]
    return order, blocks, []


def _json(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _path(text: str) -> Path:
    """A path from where the user is."""
    return Path(os.path.abspath(Path(text).expanduser()))


def _file_faults(values: Mapping[str, Any]) -> list[Fault]:
    """Files on the controller that are named and are not there."""
    faults = []
    for key, wanted in FILE_OPTIONS.items():
        path = values[key]
        if path and not (_path(path).is_file() and os.access(_path(path), os.R_OK)):
            found = f"{show(path)}, which is no file that can be read on the controller"
            faults.append(
                Fault(PREFIX + key, found, wanted, "Correct the path, or let the user who runs Ansible read it")
            )
    return faults + _baseline_faults(values["baseline"])


def _baseline_faults(baseline: str) -> list[Fault]:
    """What keeps the baseline from being read, which is better known before the run than after it."""
    if not baseline:
        return []
    if not (_path(baseline).is_file() or (_path(baseline) / "result.json").is_file()):
        found, wanted = f"{show(baseline)}, which is not there", "the result.json of an earlier run, or its folder"
        return [Fault("baseline", found, wanted, "Correct the path; results are in results/ by time")]
    try:
        result_in(_path(baseline))
    except ConfigurationError as error:
        return list(error.faults)
    return []


def _new_folder(results: str, run: dict[str, Any]) -> Path:
    """A folder that is not there yet; of two runs that begin in one second the second gets another id."""
    parent, wished, number = _path(results), run["id"], 1
    while (parent / run["id"]).exists():
        number += 1
        run["id"] = f"{wished}-{number}"
    return parent / str(run["id"])


def _laid(order: dict[str, Any], client: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The order with the paths of the user's files on the client host, and where the role has to lay them."""
    paths = {}
    for key, name, marker, field in (
        ("api_key_file", laid.KEY, API_KEY, "key_file"),
        ("ca_file", laid.CA, CA, "ca_file"),
    ):
        used = any(target[field] == marker for target in order["targets"])
        there = laid.laid_path(order["run"]["id"], name)
        paths[field] = there if used and client != LOCALHOST else ""
        paths[marker] = str(_path(values[key])) if used and client == LOCALHOST else there
    changed = with_files(order, paths[API_KEY], paths[CA])
    return {
        "order": changed,
        "key_file": paths["key_file"],
        "ca_file": paths["ca_file"],
        # Where the user is, not where the role is.
        "key_source": str(_path(values["api_key_file"])) if paths["key_file"] else "",
        "ca_source": str(_path(values["ca_file"])) if paths["ca_file"] else "",
    }
