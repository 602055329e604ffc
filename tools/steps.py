# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of checks that `make test` runs, made from what is in the checkout."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tools.lanes import Kind, Step, in_order

PYTHON = sys.executable
ENGINE_STEP = "docker engine"
ENGINE_CODE = "from lab.docker_engine import ensure_engine; ensure_engine()"
REAL_ENGINE = "vllm-cpu"
# Two of these run side by side on two cores.
LAB_LIMIT = 3600
# ansible-test has these, on the oldest Python at hand; `make unit` has them, too.
PLUGIN_TESTS = "tests/unit/plugins"
# Moves gigabytes, which stalls what is timed beside it.
DISK = {"lab test copies"}
# Short ones that want the same two hosts: one lab, and one start of pytest. The last prepares the hosts.
TOGETHER = ("engine_double", "fabric_test", "preflight")
# About how many seconds the long ones take beside others.
LONG = {
    "chaos": 1000,
    "lab test playbooks": 900,
    "molecule gateway": 450,
    "gateway behaviour": 400,
    "lab test copies": 400,
    "lab test engine_double, fabric_test, preflight": 400,
    "lab test gateway": 300,
    "molecule image": 300,
    "molecule model": 300,
    "lab test benchmark": 300,
    "lab test hosts": 220,
    "molecule host": 200,
    "molecule rollback": 180,
    "molecule fabric": 180,
    "benchmark client": 60,
}


def static_steps() -> list[Step]:
    """Return the checks that need no container, quick ones first."""
    return [
        Step("ruff check", ("ruff", "check", ".")),
        Step("ruff format", ("ruff", "format", "--check", ".")),
        Step("yamllint", ("yamllint", "--strict", ".")),
        Step("unit tests", (PYTHON, "-m", "pytest", "tests/unit", "tests/field", f"--ignore={PLUGIN_TESTS}")),
        Step("ansible-lint", ("ansible-lint", "--offline", "--profile", "production")),
        Step("antsibull-docs", (PYTHON, "-m", "tools.docs_lint")),
        Step("antsibull-changelog", ("antsibull-changelog", "lint")),
        Step("tarball", (PYTHON, "-m", "tools.tarball")),
        Step("ansible-test sanity", (PYTHON, "-m", "tools.ansible_test", "sanity")),
        Step("ansible-test units", (PYTHON, "-m", "tools.ansible_test", "units")),
    ]


def engine_step() -> Step:
    """Return the step that starts a Docker Engine before any lab needs one."""
    return Step(ENGINE_STEP, (PYTHON, "-c", ENGINE_CODE), Kind.ALONE)


def scenario_kind(texts: Sequence[str]) -> Kind:
    """Return the kind of a Molecule scenario from the texts of its files: heavy when it names the real engine."""
    return Kind.HEAVY if any(REAL_ENGINE in text for text in texts) else Kind.LAB


def molecule_steps(checkout: Path) -> list[Step]:
    """Return one step for each `molecule/NAME/molecule.yml`."""
    steps = []
    for path in sorted(checkout.glob("molecule/*/molecule.yml")):
        texts = [file.read_text(encoding="utf-8") for file in sorted(path.parent.glob("*.yml"))]
        name = path.parent.name
        steps.append(Step(f"molecule {name}", ("molecule", "test", "-s", name), scenario_kind(texts)))
    return steps


def lab_test_steps(checkout: Path) -> list[Step]:
    """Return one step, with a lab of its own, for each file of `tests/lab`; those of TOGETHER share theirs."""
    words = [path.stem.removeprefix("test_") for path in sorted(checkout.glob("tests/lab/test_*.py"))]
    together = [word for word in TOGETHER if word in words]
    steps = []
    for group in [*([word] for word in words if word not in together), *([together] if together else [])]:
        environment = ("env", f"DGXSPARK_TEST_LAB=test-{group[0].replace('_', '-')}")
        files = (f"tests/lab/test_{word}.py" for word in group)
        command = (*environment, PYTHON, "-m", "pytest", *files)
        steps.append(Step(f"lab test {', '.join(group)}", command, Kind.LAB, LAB_LIMIT))
    return steps


def lab_steps(checkout: Path) -> list[Step]:
    """Return the checks that need containers, in the order in which they should start."""
    # Real gateways before engines that are made up, all on loopback: as a lab, it waits for seconds to pass.
    behaviour = Step("gateway behaviour", (PYTHON, "-m", "pytest", "tests/gateway"), Kind.LAB)
    chaos = Step("chaos", (PYTHON, "-m", "pytest", "tests/chaos"), Kind.LAB, LAB_LIMIT)
    client = Step("benchmark client", (PYTHON, "-m", "pytest", "tests/bench"), Kind.LAB)
    steps = [
        replace(step, kind=Kind.ALONE if step.name in DISK else step.kind, seconds=LONG.get(step.name, step.seconds))
        for step in (chaos, behaviour, client, *lab_test_steps(checkout), *molecule_steps(checkout))
    ]
    return [engine_step(), *in_order(steps)]


def all_steps(checkout: Path) -> list[Step]:
    """Return every check."""
    return [*lab_steps(checkout), *static_steps()]


def chosen_steps(steps: Sequence[Step], only: Sequence[str]) -> list[Step]:
    """Return the steps whose names hold one of the words (all without words), and the engine where a lab needs it.

    Raises ValueError for a word that no name holds.
    """
    for word in only:
        if not any(word in step.name for step in steps):
            raise ValueError(f"No check is called {word!r}; there are: {', '.join(step.name for step in steps)}.")
    chosen = [step for step in steps if not only or any(word in step.name for word in only)]
    if any(step.kind is not Kind.STATIC for step in chosen) and not any(s.name == ENGINE_STEP for s in chosen):
        chosen = [*(step for step in steps if step.name == ENGINE_STEP), *chosen]
    return chosen
