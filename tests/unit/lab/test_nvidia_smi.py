# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for nvidia-smi, run as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import gpu_stream, parse
from lab.host_image import nvidia_smi
from lab.programs import HOST_IMAGE


def smi(*arguments: str, overrides: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the stand-in."""
    environment = {**os.environ, "NVIDIA_SMI_OVERRIDES": str(overrides or "/nowhere")}
    command = [sys.executable, "-S", str(HOST_IMAGE / "nvidia_smi.py"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_list() -> None:
    done = smi("-L")
    assert done.returncode == 0
    assert done.stdout.startswith("GPU 0: NVIDIA GB10 (UUID: GPU-")


def test_query_with_header_and_units() -> None:
    done = smi("--query-gpu=name,memory.total,power.draw,clocks.sm", "--format=csv")
    assert done.stdout.splitlines() == [
        "name, memory.total [MiB], power.draw [W], clocks.current.sm [MHz]",
        "NVIDIA GB10, [N/A], 4.52 W, 208 MHz",
    ]


def test_query_without_header_and_units() -> None:
    done = smi("--query-gpu=driver_version,memory.used,power.draw,compute_cap", "--format=csv,noheader,nounits")
    assert done.stdout == "580.95.05, [N/A], 4.52, 12.1\n"


@pytest.mark.parametrize(
    "field",
    [
        "memory.total",
        "memory.used",
        "memory.free",
        "power.limit",
        "ecc.mode.current",
        "fan.speed",
        "enforced.power.limit",
    ],
)
def test_fields_that_a_gb10_has_not(field: str) -> None:
    assert smi(f"--query-gpu={field}", "--format=csv,noheader").stdout == "[N/A]\n"


def test_unknown_field() -> None:
    done = smi("--query-gpu=name,nonsense", "--format=csv")
    assert (done.returncode, done.stdout) == (2, 'Field "nonsense" is not a valid field to query.\n\n')


def test_format_is_needed() -> None:
    done = smi("--query-gpu=name")
    assert done.returncode == 2
    assert '"--format=" switch is missing' in done.stdout


def test_unknown_option() -> None:
    done = smi("--frobnicate")
    assert done.returncode == 1
    assert "Invalid combination of input arguments" in done.stdout


def test_no_process_uses_the_gpu() -> None:
    assert smi("--query-compute-apps=pid,used_memory", "--format=csv").stdout == "pid, used_gpu_memory [MiB]\n"
    assert smi("--query-compute-apps=pid,name", "--format=csv,noheader").stdout == ""


def test_table_is_straight() -> None:
    done = smi()
    lines = done.stdout.splitlines()[1:]
    assert {len(line) for line in lines if line} == {91}
    assert "NVIDIA GB10" in done.stdout
    assert "Not Supported" in done.stdout


def test_no_such_gpu() -> None:
    done = smi("-i", "1", "--query-gpu=name", "--format=csv")
    assert (done.returncode, done.stdout) == (6, "No devices were found\n")


def test_answers_can_be_changed_for_one_host(tmp_path: Path) -> None:
    overrides = tmp_path / "smi.json"
    overrides.write_text(json.dumps({"clocks.current.sm": "650 MHz", "driver_version": "570.10"}), encoding="utf-8")
    query = "--query-gpu=clocks.sm,driver_version"
    assert smi(query, "--format=csv,noheader", overrides=overrides).stdout == "650 MHz, 570.10\n"
    assert smi(query, "--format=csv,noheader,nounits", overrides=overrides).stdout == "650, 570.10\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may change settings")
def test_settings_need_root() -> None:
    done = smi("-lgc", "0,2200")
    assert done.returncode == 4
    assert "Insufficient Permissions" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="settings need root")
def test_clock_lock() -> None:
    done = smi("-lgc", "0,2200")
    assert done.returncode == 0
    assert done.stdout.startswith('GPU clocks set to "(gpuClkMin 0, gpuClkMax 2200)" for GPU 0000000F:01:00.0\n')


def test_a_failure_ends_every_call(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"failure": {"text": "Failed to initialize NVML: Unknown Error", "code": 255}}))
    for arguments in (["-L"], [], ["--query-gpu=name", "--format=csv"]):
        done = smi(*arguments, overrides=answers)
        assert (done.returncode, done.stdout) == (255, "Failed to initialize NVML: Unknown Error\n")


def test_processes_that_a_test_made_up(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    process = {"pid": "4242", "process_name": "python3", "used_gpu_memory": "1024 MiB"}
    answers.write_text(json.dumps({"processes": [process, {"pid": "7", "process_name": "Xorg"}]}))
    query = "--query-compute-apps=pid,name,used_memory"
    assert smi(query, "--format=csv", overrides=answers).stdout.splitlines() == [
        "pid, process_name, used_gpu_memory [MiB]",
        "4242, python3, 1024 MiB",
        "7, Xorg, [N/A]",
    ]
    assert (
        smi(query, "--format=csv,noheader,nounits", overrides=answers).stdout == "4242, python3, 1024\n7, Xorg, [N/A]\n"
    )


@pytest.mark.parametrize(("lock", "shown"), [("", "2411 MHz"), ("2200", "2200 MHz"), ("3000", "2411 MHz")])
def test_the_lock_of_the_clock_shows_under_load(lock: str, shown: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(nvidia_smi, "CLOCK_LOCK", tmp_path / "lock")
    monkeypatch.setattr(nvidia_smi, "OVERRIDES", tmp_path / "answers.json")
    nvidia_smi.OVERRIDES.write_text(json.dumps({"clocks.current.sm": "2411 MHz", "utilization.gpu": "96 %"}))
    if lock:
        nvidia_smi.CLOCK_LOCK.write_text(lock)
    query = ["--query-gpu=clocks.sm,utilization.gpu", "--format=csv,noheader"]
    assert nvidia_smi.answer(query) == f"{shown}, 96 %"


def test_it_answers_what_the_benchmarks_sampler_asks(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(nvidia_smi, "OVERRIDES", tmp_path / "answers.json")
    found = [parse.gpu(nvidia_smi.answer(list(command[1:]))) for command in gpu_stream.COMMANDS]
    assert [one["throttle"] for one in found] == [["gpu_idle"], ["gpu_idle"], None]
    assert {one["temp_c"] for one in found} == {41.0}
    nvidia_smi.OVERRIDES.write_text(json.dumps({"clocks_event_reasons.active": "0x0000000000000044"}))
    held = parse.gpu(nvidia_smi.answer(list(gpu_stream.COMMANDS[0][1:])))["throttle"]
    assert held == ["sw_power_cap", "hw_thermal_slowdown"]


def test_its_words_for_a_field_that_it_does_not_know_are_those_that_the_sampler_waits_for() -> None:
    done = smi("--query-gpu=utilization.gpu,clocks_future_reasons.active", "--format=csv,noheader,nounits")
    assert gpu_stream.UNKNOWN_FIELD in done.stdout


@pytest.mark.parametrize("loop", [["-l", "1"], ["--loop=1"], ["-lms", "20"], ["--loop-ms=20"]])
def test_answers_again_and_again_with_what_its_file_says_then(loop: list[str], tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"utilization.gpu": "7 %"}), encoding="utf-8")
    query = ["--query-gpu=utilization.gpu,clocks.mem", "--format=csv,noheader,nounits"]
    command = [sys.executable, "-S", str(HOST_IMAGE / "nvidia_smi.py"), *query, *loop]
    environment = {**os.environ, "NVIDIA_SMI_OVERRIDES": str(answers)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "7, [N/A]\n"
        part = tmp_path / "part"
        part.write_text(json.dumps({"utilization.gpu": "96 %"}), encoding="utf-8")
        part.replace(answers)
        assert "96, [N/A]\n" in process.stdout
        part.write_text(json.dumps({"failure": {"text": "GPU is lost", "code": 15}}), encoding="utf-8")
        part.replace(answers)
        assert process.stdout.read().endswith("GPU is lost\n")
        assert process.wait(30) == 15


def test_ends_without_a_word_when_nobody_reads() -> None:
    command = [sys.executable, "-S", str(HOST_IMAGE / "nvidia_smi.py"), "-L", "-lms", "10"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize("interval", ["0", "x", "-1"])
def test_an_interval_that_is_none(interval: str) -> None:
    done = smi("-L", "-l", interval)
    assert (done.returncode, done.stdout) == (1, f"Invalid loop interval: {interval}\n\n")
