# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the GPU is there, at its speed, and free."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import gpu
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import GROUPS
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, MISSING, Output, Raw

HOST = Path(__file__).parents[4] / "fixtures" / "host"
INFO = Output(0, (HOST / "docker-info-26.1.json").read_text(encoding="utf-8"))
VERSION = (HOST / "nvidia-driver-version-580.142").read_text(encoding="utf-8")
RUNTIME = {"/usr/bin/nvidia-container-runtime": "/usr/bin/nvidia-container-runtime"}
IDLE = "0, NVIDIA GB10, 580.142, 0, 208, [N/A], [N/A]\n"
P04 = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.173\n"
NOT_LOADED = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"


def host(row: Output, processes: Output | None = None, ours: Output | None = None, **more: dict[str, str]) -> Raw:
    outputs = {"nvidia_smi": row, "nvidia_smi_processes": processes or Output(0), "docker_info": INFO}
    if ours:
        outputs["our_pids"] = ours
    return Raw(files=more.get("files", {}), links={**RUNTIME, **more.get("links", {})}, outputs=outputs)


def by_word(found: list[Check]) -> dict[str, Check]:
    assert [check.id for check in found] == [f"gpu.{word}" for word in GROUPS["gpu"]]
    return {check.id.partition(".")[2]: check for check in found}


def test_p01_a_gpu_without_figures_of_memory_is_visible() -> None:
    raw = host(Output(0, IDLE))
    found = by_word(gpu.checks(raw, Want()))
    assert {word: check.status for word, check in found.items()} == {
        "driver": "pass",
        "visible": "pass",
        "runtime": "pass",
        "container": "skip",
        "clocks": "skip",
        "processes": "pass",
    }
    assert (found["driver"].found, found["visible"].found) == ("580.142", "NVIDIA GB10")
    assert "/proc/meminfo" in found["visible"].detail
    assert gpu.facts(raw, Want()) == {"name": "NVIDIA GB10", "driver": "580.142", "processes": []}


@pytest.mark.parametrize(
    ("output", "found", "remedy"),
    [
        (Output(18, P04), "driver and library differ: 580.142 and 580.173", "Reboot."),
        (
            Output(18, "Failed to initialize NVML: Driver/library version mismatch"),
            "driver and library differ",
            "Reboot.",
        ),
        (Output(MISSING), "no nvidia-smi", "apt install nvidia-driver-580-open"),
        (Output(LATE, err="no answer in 20 s"), "nvidia-smi gave no answer", "switch it on again"),
        (Output(9, NOT_LOADED), "the NVIDIA module is not loaded", "modprobe nvidia"),
        (Output(12, "NVIDIA-SMI couldn't find libnvidia-ml.so library"), "nvidia-smi without its library", "reinstall"),
        (Output(4, "Failed to initialize NVML: Insufficient Permissions"), "this user may not use the GPU", "become"),
        (Output(2, 'Field "x" is not a valid field to query.'), 'nvidia-smi says: Field "x" is not', "journalctl"),
    ],
)
def test_p04_a_driver_that_does_not_work_is_one_finding(output: Output, found: str, remedy: str) -> None:
    checks = by_word(
        gpu.checks(host(output, files={"/proc/driver/nvidia/version": VERSION}), Want(gpu_probe=True, image="x"))
    )
    assert checks["driver"].status == "fail"
    assert found in checks["driver"].found
    assert remedy in checks["driver"].remedy
    assert checks.pop("runtime").status == "pass"
    assert {word for word, check in checks.items() if check.status != "skip"} == {"driver"}
    assert gpu.facts(host(output), Want())["name"] == ""


def test_a_kernel_without_the_module_is_named() -> None:
    module = "/lib/modules/6.17.0-19-generic/kernel/nvidia-580-open/nvidia.ko"
    raw = host(
        Output(9, NOT_LOADED), files={"/proc/sys/kernel/osrelease": "7.0.0-30-generic\n"}, links={module: module}
    )
    check = gpu.driver(raw, Output(9, NOT_LOADED))
    assert check.found == "kernel 7.0.0-30-generic has no NVIDIA module; 6.17.0-19-generic has one"
    assert check.remedy.startswith("Install linux-modules-nvidia-580-open-7.0.0-30-generic, ")


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (Output(6, "No devices were found"), "nvidia-smi lists no GPU"),
        (Output(0, ""), "nvidia-smi lists no GPU"),
        (Output(0, "0, NVIDIA GB10"), "nvidia-smi lists no GPU"),
        (
            Output(15, "Unable to determine the device handle for GPU000F:01:00.0: GPU is lost."),
            "the GPU is lost: Unable",
        ),
    ],
)
def test_a_driver_without_a_gpu_is_another_finding(output: Output, found: str) -> None:
    checks = by_word(gpu.checks(host(output), Want()))
    assert (checks["driver"].status, checks["visible"].status) == ("pass", "fail")
    assert checks["visible"].found.startswith(found)
    assert checks["clocks"].found == "follows from gpu.visible"


@pytest.mark.parametrize(
    ("use", "clock", "status"),
    [
        ("96", "513", "warn"),
        ("96 %", "850 MHz", "warn"),
        ("50", "2405", "pass"),
        ("49", "208", "skip"),
        ("[N/A]", "513", "skip"),
        ("96", "[N/A]", "skip"),
    ],
)
def test_a_clock_that_is_held_low_shows_under_load_alone(use: str, clock: str, status: str) -> None:
    check = gpu.clocks(Output(0, f"0, NVIDIA GB10, 580.142, {use}, {clock}, [N/A], [N/A]\n"))
    assert check.status == status
    if status == "warn":
        assert "unplug its power supply" in check.remedy


@pytest.mark.parametrize(
    ("text", "ours", "status", "found"),
    [
        ("", None, "pass", "none"),
        ("4242, /usr/bin/python3, 19135\n", Output(0, ""), "warn", "python3 (process 4242, 19135 MiB)"),
        ("4242, /usr/bin/python3, [N/A]\n", Output(0, "7"), "warn", "python3 (process 4242, memory unknown)"),
        ("4242, [Not Found], [N/A]\n", Output(0, "424"), "warn", "a process (process 4242, memory unknown)"),
        ("4242, python3, 9\n4243, ollama, 8\n", Output(0, "4242\n"), "warn", "ollama (process 4243, 8 MiB)"),
        ("4242, VLLM::EngineCore, 38550\n", Output(0, "4242\n4243\n"), "pass", "ours only"),
        ("4242, python3, 9\n", None, "skip", "1, and whose they are is not known"),
    ],
)
def test_p02_processes_that_are_not_ours_are_named(text: str, ours: Output | None, status: str, found: str) -> None:
    check = gpu.processes(host(Output(0, IDLE), Output(0, text), ours))
    assert (check.status, check.found) == (status, found)


def test_nothing_at_all_is_no_traceback() -> None:
    found = by_word(gpu.checks(Raw(), Want(gpu_probe=True, image="x")))
    assert found["driver"].status == "fail"
    assert {check.status for word, check in found.items() if word != "driver"} == {"skip"}
