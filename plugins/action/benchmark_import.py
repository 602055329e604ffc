# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark_import``: makes a result of this collection from one that another tool has saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports import detect
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import About
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.plugin_utils import bench_files, bench_report


class ActionModule(ActionBase):
    """The edge around :func:`detect.result`."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "src": {"type": "path", "required": True},
                "dest": {"type": "path", "default": "results"},
                "label": {"type": "str", "default": ""},
                "model": {"type": "str", "default": ""},
                "target": {"type": "str", "default": "imported"},
                "via": {"type": "str", "choices": ["direct", "gateway"], "default": "direct"},
                "case": {"type": "str", "default": ""},
                "pictures": {"type": "bool", "default": True},
            }
        )
        try:
            return {**answer, **_imported(options, bool(self._task.check_mode))}
        except ConfigurationError as error:
            return {**answer, "failed": True, "changed": False, "msg": str(error)}


def _imported(options: Mapping[str, Any], check_mode: bool) -> dict[str, Any]:
    about = About(**{name: options[name] for name in ("label", "model", "target", "via", "case")})
    _word(about.label)
    result = detect.result(_text(options["src"]), options["src"], about, bench_files.collection_version())
    folder = Path(options["dest"]).absolute() / result["run"]["id"]
    found = {
        "folder": str(folder),
        "tool": result["tool"]["imported_from"]["tool"],
        "points": len(result["points"]),
        "notes": [finding["text"] for finding in result["findings"]],
    }
    rounds = [{**one, "requests": []} for point in result["points"] for one in point["rounds"]]
    written = bench_report.files(result, rounds, bench_report.FORMATS, options["pictures"])
    # There are no requests of ours.
    written.pop(result["requests_file"])
    # The same file gives the same bytes, in a folder of its own.
    same = all(_holds(folder / name, content) for name, content in written.items())
    if not same and not check_mode:
        bench_files.write_all(folder, written)
    return {**found, "changed": not same, "paths": [str(folder / name) for name in written]}


def _word(label: str) -> None:
    if label and not all(sign.isalnum() or sign in "-_." for sign in label):
        remedy = "Choose such a word; it becomes part of the folder's name"
        raise ConfigurationError([Fault("label", repr(label), "letters, digits, '-', '_' and '.'", remedy)])


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        found = "a file that is no text"
    except OSError as error:
        found = error.strerror or str(error)
    raise ConfigurationError([Fault(path, found, f"a result of {detect.KNOWN}", "Give the path of such a file")])


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
