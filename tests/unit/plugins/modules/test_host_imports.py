# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules run on hosts that have Python and Docker, and nothing else of ours."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.modules import replica_change

MODULES = Path(replica_change.__file__).parent
MODULES_PACKAGE = replica_change.__package__
UTILS = "ansible_collections.dgxspark.serving.plugins.module_utils"
ON_HOSTS = [
    "benchmark",
    "benchmark_info",
    "benchmark_sampler",
    "benchmark_second_source",
    "engine_key",
    "evidence_info",
    "fabric_link",
    "fabric_ssh",
    "fanout",
    "gateway_change",
    "gateway_info",
    "host_clock_info",
    "host_drop_caches",
    "host_info",
    "host_setup",
    "host_swap",
    "host_sysctl",
    "image_info",
    "image_load",
    "image_probe",
    "image_prune",
    "image_pull",
    "image_save",
    "model_download",
    "model_info",
    "model_manifest",
    "model_prune",
    "preflight_info",
    "replica_change",
    "replica_drain",
    "replica_info",
]


def imports(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = f"{UTILS}.supervisor"
            base = f"{package}.{node.module}" if node.module else package
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return found


def files(path: Path) -> set[Path]:
    """A module with all of our own code that it brings to the host."""
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in imports(current):
            if name.startswith(UTILS + "."):
                file = (
                    MODULES.parent
                    / "module_utils"
                    / Path(*name.removeprefix(UTILS + ".").split(".")).with_suffix(".py")
                )
                waiting += [file] if file.is_file() else []
    return seen


@pytest.mark.parametrize("module", ON_HOSTS)
def test_a02_only_the_standard_library(module: str) -> None:
    brought = files(MODULES / f"{module}.py")
    assert len(brought) > 1
    for path in brought:
        for name in imports(path):
            root = name.partition(".")[0]
            ours = name.startswith((UTILS, "ansible.module_utils.basic"))
            assert root in sys.stdlib_module_names or ours, f"{path.name} imports {name}"


@pytest.mark.parametrize("module", sorted(path.stem for path in MODULES.glob("*.py")))
def test_each_module_finds_what_it_imports(module: str) -> None:
    assert importlib.import_module(f"{MODULES_PACKAGE}.{module}").DOCUMENTATION
