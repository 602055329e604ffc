# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.ansible_test import UNIT_TARGET
from tools.lanes import Kind
from tools.steps import (
    DISK,
    ENGINE_STEP,
    LONG,
    PLUGIN_TESTS,
    TOGETHER,
    all_steps,
    chosen_steps,
    lab_steps,
    lab_test_steps,
    molecule_steps,
    scenario_kind,
    static_steps,
)

CHECKOUT = Path(__file__).parents[3]


def scenario(checkout: Path, name: str, converge: str) -> None:
    """Write a Molecule scenario."""
    folder = checkout / "molecule" / name
    folder.mkdir(parents=True)
    (folder / "molecule.yml").write_text("---\n", encoding="utf-8")
    (folder / "converge.yml").write_text(converge, encoding="utf-8")


def lab_test(checkout: Path, name: str, text: str) -> None:
    """Write a file of lab tests."""
    folder = checkout / "tests" / "lab"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"test_{name}.py").write_text(text, encoding="utf-8")


def test_every_scenario_is_a_step_and_the_real_engine_is_heavy(tmp_path: Path) -> None:
    scenario(tmp_path, "default", "engine: double\n")
    scenario(tmp_path, "vllm_tp1", "engine: vllm-cpu\n")
    (tmp_path / "molecule" / "shared").mkdir()
    steps = {step.name: step.kind for step in molecule_steps(tmp_path)}
    assert steps == {"molecule default": Kind.LAB, "molecule vllm_tp1": Kind.HEAVY}


def test_the_engine_comes_before_every_lab(tmp_path: Path) -> None:
    scenario(tmp_path, "default", "engine: double\n")
    lab_test(tmp_path, "fast", "pass\n")
    lab_test(tmp_path, "playbooks", "pass\n")
    names = [step.name for step in lab_steps(tmp_path)]
    long = ["chaos", "lab test playbooks", "gateway behaviour"]
    assert names == [ENGINE_STEP, *long, "lab test fast", "molecule default", "benchmark client"]
    assert lab_steps(tmp_path)[0].kind is Kind.ALONE


def test_what_moves_gigabytes_is_beside_no_lab() -> None:
    steps = {step.name: step for step in lab_steps(CHECKOUT)}
    assert DISK
    assert {steps[name].kind for name in DISK} == {Kind.ALONE}
    assert lab_steps(CHECKOUT)[0].name == ENGINE_STEP


def test_what_is_known_to_be_long_is_there() -> None:
    assert set(LONG) <= {step.name for step in lab_steps(CHECKOUT)}


def test_short_lab_tests_share_a_lab_and_every_file_is_run_once() -> None:
    files = [word for step in lab_test_steps(CHECKOUT) for word in step.argv if word.startswith("tests/lab/")]
    assert sorted(files) == sorted(f"tests/lab/{path.name}" for path in (CHECKOUT / "tests/lab").glob("test_*.py"))
    (shared,) = [step for step in lab_test_steps(CHECKOUT) if "," in step.name]
    assert shared.name == "lab test " + ", ".join(TOGETHER)
    assert shared.argv[-3:] == tuple(f"tests/lab/test_{word}.py" for word in TOGETHER)
    # A word of the command line still finds each of them.
    for word in TOGETHER:
        assert shared.name in {step.name for step in chosen_steps(all_steps(CHECKOUT), [word])}


def test_what_prepares_the_hosts_is_the_last_of_its_lab() -> None:
    # In `make lab-test`, which takes the files by name, too.
    assert TOGETHER[-1] == "preflight"
    assert max(path.name for path in (CHECKOUT / "tests/lab").glob("test_*.py")) == "test_preflight.py"


def test_labs_do_not_share_a_name() -> None:
    names = [step.argv[1] for step in lab_test_steps(CHECKOUT)]
    assert len(names) == len(set(names))


def test_the_gateways_wait_beside_labs() -> None:
    steps = {step.name: step for step in lab_steps(CHECKOUT)}
    assert steps["gateway behaviour"].argv[-1] == "tests/gateway"
    assert steps["gateway behaviour"].kind is Kind.LAB


def test_what_the_unit_step_leaves_out_ansible_test_has() -> None:
    steps = {step.name: step.argv for step in static_steps()}
    assert "ansible-test units" in steps
    assert f"--ignore={PLUGIN_TESTS}" in steps["unit tests"]
    assert UNIT_TARGET.rstrip("/") == PLUGIN_TESTS


def test_names_are_unique(tmp_path: Path) -> None:
    scenario(tmp_path, "default", "")
    names = [step.name for step in all_steps(tmp_path)]
    assert len(names) == len(set(names))


def test_scenario_kind() -> None:
    assert scenario_kind(["a: 1", "engine: vllm-cpu"]) is Kind.HEAVY
    assert scenario_kind(["a: 1"]) is Kind.LAB


def test_choice_by_word(tmp_path: Path) -> None:
    lab_test(tmp_path, "hosts", "pass\n")
    steps = all_steps(tmp_path)
    assert [step.name for step in chosen_steps(steps, ["ruff"])] == ["ruff check", "ruff format"]
    assert [step.name for step in chosen_steps(steps, ["lab test"])] == [ENGINE_STEP, "lab test hosts"]
    assert chosen_steps(steps, []) == steps


def test_an_unknown_word_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^No check is called 'rufff'; there are: .*ruff check, "):
        chosen_steps(all_steps(tmp_path), ["rufff"])
