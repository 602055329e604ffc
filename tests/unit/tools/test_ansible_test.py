# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What surrounds ansible-test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.ansible_test import CONTROLLER, child_environment, pip_version, shim_name, stale_files, units_command
from tools.get_pip import wanted_packages
from tools.pythons import candidates, parse_probe


def test_pip_version_is_read_from_ansible_test() -> None:
    assert pip_version("    default_packages = dict(\n        pip='24.2',\n    )\n") == "24.2"
    assert shim_name("24.2") == "get_pip_24_2.py"


def test_another_ansible_test_is_told() -> None:
    with pytest.raises(ValueError, match="adapt tools/ansible_test.py"):
        pip_version("packages = {}\n")


def test_get_pip_takes_requirements_alone() -> None:
    arguments = ["--disable-pip-version-check", "pip==24.2", "--no-setuptools", "--no-wheel"]
    assert wanted_packages(arguments) == ["pip==24.2"]


def test_files_that_are_gone_leave_the_copy() -> None:
    present = ["a.py", "old.py", "tests/output/x", "tests/outputs/x"]
    assert stale_files(present, ["a.py", "new.py"]) == ["old.py", "tests/outputs/x"]


def test_units_run_on_the_target_python() -> None:
    command = units_command("3.10", [])
    assert command[command.index("--target-python") + 1] == "venv/3.10"
    assert command[command.index("--controller") + 1] == f"origin:python=venv/{CONTROLLER}"
    assert command[-1] == "tests/unit/plugins/"
    assert units_command("3.10", ["tests/unit/plugins/modules/"])[-1] == "tests/unit/plugins/modules/"


def test_real_interpreters_come_before_the_rest_of_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/shims")
    monkeypatch.setenv("ANSIBLE_CONFIG", "/checkout/ansible.cfg")
    environment = child_environment(Path("/home"), [Path("/a/bin/python3.11"), Path("/a/bin/python3.12")])
    assert environment["PATH"].split(":")[1:] == ["/a/bin", "/shims"]
    assert environment["HOME"] == "/home"
    assert "ANSIBLE_CONFIG" not in environment


def test_probe() -> None:
    assert parse_probe("3.12 /usr/bin/python3.12\n", "3.12") == Path("/usr/bin/python3.12")
    assert parse_probe("3.11 /usr/bin/python3.11\n", "3.12") is None
    assert parse_probe("", "3.12") is None


def test_newest_kept_python_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for release in ("3.12.9", "3.12.10", "3.11.1"):
        interpreter = tmp_path / ".pyenv" / "versions" / release / "bin" / f"python{release.rpartition('.')[0]}"
        interpreter.parent.mkdir(parents=True)
        interpreter.touch()
    found = [Path(path).parents[1].name for path in candidates("3.12", tmp_path, None)]
    assert found == ["3.12.10", "3.12.9"]
