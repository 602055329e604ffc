# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of nvidia-smi as one process, with commands in its stead."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import gpu_stream
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.gpu_stream import COMMANDS, GpuStream

SECONDS = 20.0
SLEEP = "import time; time.sleep(600)"


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Trial:
    """A stream with what it told."""

    def __init__(self, *commands: Sequence[str]) -> None:
        self.told: list[str] = []
        self.clock = Clock()
        self.stream = GpuStream(self.told.append, commands, self.clock)

    def until(self, key: str, value: float | None, at_least: int = 0) -> None:
        """Sample until it is so."""
        until = time.monotonic() + SECONDS
        while (self.stream.sample()[key] != value or len(self.told) < at_least) and time.monotonic() < until:
            time.sleep(0.01)
        assert self.stream.sample()[key] == value
        assert len(self.told) >= at_least


@pytest.fixture
def trials() -> Iterator[list[Trial]]:
    """Their processes are ended."""
    found: list[Trial] = []
    yield found
    for trial in found:
        trial.stream.close()


def python(trials: list[Trial], *codes: str) -> Trial:
    """Python code as nvidia-smi, and what is begun in its stead when it does not know a field."""
    trials.append(Trial(*([sys.executable, "-u", "-S", "-c", code] for code in codes)))
    return trials[-1]


def test_it_is_one_process_that_loops() -> None:
    first, second, last = COMMANDS
    figures = "--query-gpu=utilization.gpu,power.draw,temperature.gpu,clocks.sm,clocks.mem"
    rest = ("--format=csv,noheader,nounits", "-lms", "1000")
    assert first == ("nvidia-smi", f"{figures},clocks_event_reasons.active", *rest)
    assert second == ("nvidia-smi", f"{figures},clocks_throttle_reasons.active", *rest)
    assert last == ("nvidia-smi", figures, *rest)


def test_the_last_whole_line_counts(trials: list[Trial]) -> None:
    trial = python(trials, f"print('1, 2, 3, 4, 5\\n96, 60.5, 74, 2411, [N/A]\\n97, 1', end=''); {SLEEP}")
    trial.until("util_pct", 96.0)
    assert trial.stream.sample()["memory_clock_mhz"] is None
    assert trial.told == []


UNKNOWN = "print('Field \"clocks_event_reasons.active\" is not a valid field to query.\\n'); raise SystemExit(2)"


def test_a_driver_that_does_not_know_a_field_is_asked_without_it(trials: list[Trial]) -> None:
    old = f"print('96, 60.5, 74, 2411, [N/A], 0x0000000000000044'); {SLEEP}"
    trial = python(trials, UNKNOWN, old, "never begun")
    trial.until("util_pct", 96.0)
    assert trial.stream.sample()["throttle"] == ["sw_power_cap", "hw_thermal_slowdown"]
    assert trial.told == []


def test_the_figures_of_a_driver_that_knows_neither_name_are_not_lost(trials: list[Trial]) -> None:
    trial = python(trials, UNKNOWN, UNKNOWN, f"print('96, 60.5, 74, 2411, [N/A]'); {SLEEP}")
    trial.until("util_pct", 96.0)
    assert trial.stream.sample()["throttle"] is None
    assert trial.told == []


def test_a_driver_that_knows_no_field_at_all_is_told_of(trials: list[Trial]) -> None:
    trial = python(trials, UNKNOWN)
    trial.until("util_pct", None, at_least=1)
    assert "is not a valid field to query.' instead of figures" in trial.told[0]


def test_one_that_hangs_gives_null_and_a_sentence_and_holds_up_nothing(trials: list[Trial]) -> None:
    trial = python(trials, f"print('96, 60.5, 74, 2411, 1'); {SLEEP}")
    trial.until("util_pct", 96.0)
    trial.clock.now += gpu_stream.STALE + 0.1
    assert trial.stream.sample()["util_pct"] is None
    assert trial.told == []
    trial.clock.now += gpu_stream.HUNG
    assert trial.stream.sample()["util_pct"] is None
    assert len(trial.told) == 1
    assert trial.told[0].startswith("nvidia-smi has said nothing for 15 s: nothing more is known of the GPU. Run ")


def test_one_that_dies_is_tried_again_after_a_while(trials: list[Trial], tmp_path: Path) -> None:
    mark = tmp_path / "second"
    code = f"""
import pathlib, sys, time
mark = pathlib.Path({str(mark)!r})
if mark.exists():
    print("55, 1, 1, 1, 1")
    time.sleep(600)
mark.touch()
sys.exit(9)
"""
    trial = python(trials, code)
    trial.until("util_pct", None, at_least=1)
    assert trial.told[0].startswith("nvidia-smi ended with status 9") or "closed its output" in trial.told[0]
    trial.clock.now += gpu_stream.AGAIN
    trial.until("util_pct", 55.0)
    assert len(trial.told) == 1


def test_words_instead_of_figures(trials: list[Trial]) -> None:
    trial = python(trials, f"print('Failed to initialize NVML: Unknown Error\\n'); {SLEEP}")
    trial.until("util_pct", None, at_least=1)
    assert trial.told[0].startswith("nvidia-smi says 'Failed to initialize NVML: Unknown Error' instead of figures")


def test_a_host_without_it() -> None:
    trial = Trial(["/nowhere/nvidia-smi"])
    assert set(trial.stream.sample().values()) == {None}
    assert trial.told[0].startswith("nvidia-smi cannot be started (No such file or directory)")
    assert trial.stream.cpu_seconds() == 0.0
    trial.stream.close()


def test_its_cpu_time_counts_also_after_its_end(trials: list[Trial]) -> None:
    trial = python(trials, "x = sum(i * i for i in range(2_000_000)); print('1, 1, 1, 1, 1')\n" + SLEEP)
    trial.until("util_pct", 1.0)
    spent = trial.stream.cpu_seconds()
    trial.stream.close()
    assert trial.stream.cpu_seconds() >= spent > 0
