# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of a host: their scripts, up to what they would do on one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab import faults
from lab.errors import LabError
from lab.faults import FAULTS, Fault, fault_of, mend_script, plant_script
from lab.names import plan_host

HOST = plan_host("demo", 2)


def shell(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run or read a script as the lab does."""
    return subprocess.run(["sh", "-ec", *options, script], capture_output=True, text=True, check=False)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fault that writes down what it knows, with its mark in this folder."""
    monkeypatch.setattr(faults, "MARKS", str(tmp_path / "marks"))
    told = tmp_path / "told"
    plant = f"echo $host $interface $address > {told}; echo kept > $mark"
    monkeypatch.setitem(FAULTS, "toy", Fault("a toy", plant, f"cat $mark >> {told}"))
    return told


@pytest.mark.parametrize("name", FAULTS)
def test_scripts_are_shell_and_come_in_pairs(name: str) -> None:
    for script in (plant_script(HOST, name), mend_script(HOST, name)):
        done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    fault = FAULTS[name]
    assert fault.about
    assert bool(fault.plant) == bool(fault.mend)
    assert fault.plant or fault.cable


def test_a_planted_fault_is_mended_once(toy: Path) -> None:
    assert shell(plant_script(HOST, "toy")).returncode == 0
    assert toy.read_text() == "spark2 enp1s0f0np0 10.100.0.2/24\n"
    for _time in range(2):
        assert shell(mend_script(HOST, "toy")).returncode == 0
        assert toy.read_text() == "spark2 enp1s0f0np0 10.100.0.2/24\nkept\n"


def test_what_failed_to_be_planted_is_still_mended(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAULTS, "toy", Fault("a toy", "false", f"echo mended > {toy}"))
    assert shell(plant_script(HOST, "toy")).returncode != 0
    assert shell(mend_script(HOST, "toy")).returncode == 0
    assert toy.read_text() == "mended\n"


def test_unknown_fault_is_named() -> None:
    with pytest.raises(LabError, match="There is no fault 'swapon'; there are swap-on, "):
        fault_of("swapon")
