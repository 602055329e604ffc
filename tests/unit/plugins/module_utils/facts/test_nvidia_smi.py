# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nvidia-smi says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import nvidia_smi
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.nvidia_smi import Gpu, Process
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, MISSING, Output, Raw
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import gib

VERSION = Path(__file__).parents[4] / "fixtures" / "host" / "nvidia-driver-version-580.142"
MIB = 1024**2
P04 = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.142\n"


def test_p01_memory_that_is_not_available_is_no_figure_and_no_fault() -> None:
    fields = ("index", "name", "memory.total", "memory.used", "utilization.gpu")
    [gpu] = nvidia_smi.read_gpus("0, NVIDIA GB10, [N/A], [N/A], 3\n", fields)
    assert gpu == Gpu(0, "NVIDIA GB10", utilization=3, memory_total=None, memory_used=None)


def test_rows_have_the_fields_that_are_asked_for() -> None:
    [gpu] = nvidia_smi.read_gpus("0, NVIDIA GB10, 580.142, 96 %, 2405 MHz, [N/A], [N/A]\n")
    assert gpu == Gpu(0, "NVIDIA GB10", "580.142", 96, 2405)


@pytest.mark.parametrize(
    "text",
    [
        "",
        P04,
        "No devices were found\n",
        "Failed, to, initialize, NVML, a, b, c\n",
        "0, NVIDIA GB10",
        "a,b\n\n,,,,,,\n",
    ],
)
def test_p04_a_sentence_is_no_gpu(text: str) -> None:
    assert nvidia_smi.read_gpus(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("4242, /usr/bin/python3, 19135\n", [Process(4242, "/usr/bin/python3", 19135)]),
        ("4242, /usr/bin/python3, [N/A]\n", [Process(4242, "/usr/bin/python3", None)]),
        ("", []),
        ("7, a, b, 20 MiB\n", [Process(7, "a, b", 20)]),
        ("No running processes found\npid, process_name\n", []),
    ],
)
def test_p02_processes_with_a_figure_and_without(text: str, found: list[Process]) -> None:
    assert nvidia_smi.read_processes(text) == found


def test_p02_no_process_is_not_the_same_as_no_answer() -> None:
    assert nvidia_smi.processes(Raw(outputs={nvidia_smi.PROCESSES: Output(0, "")})) == []
    assert nvidia_smi.processes(Raw(outputs={nvidia_smi.PROCESSES: Output(18, P04)})) is None
    assert nvidia_smi.processes(Raw()) is None


def test_u10_memory_of_a_process_is_nvidia_smis() -> None:
    [process] = nvidia_smi.read_processes("4242, VLLM::EngineCore, 38550 MiB\n")
    assert process.memory is not None
    assert gib(int(process.memory * MIB)) == "37.6 GiB"


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (Output(MISSING), nvidia_smi.NOT_INSTALLED),
        (Output(LATE), nvidia_smi.NO_ANSWER),
        (Output(18, P04), nvidia_smi.MISMATCH),
        (Output(1, err=P04), nvidia_smi.MISMATCH),
        (
            Output(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that"),
            nvidia_smi.NOT_LOADED,
        ),
        (Output(12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system."), nvidia_smi.NO_LIBRARY),
        (Output(4, "Failed to initialize NVML: Insufficient Permissions"), nvidia_smi.DENIED),
        (Output(6, "No devices were found"), nvidia_smi.NO_DEVICE),
        (
            Output(15, "Unable to determine the device handle for GPU000F:01:00.0: GPU is lost.  Reboot the system"),
            nvidia_smi.LOST,
        ),
        (Output(255, "Failed to initialize NVML: Unknown Error"), nvidia_smi.LOST),
        (Output(2, 'Field "nonsense" is not a valid field to query.'), nvidia_smi.OTHER),
        (Output(0, "0, NVIDIA GB10, 580.142, 0, 208, [N/A], [Unknown Error]"), ""),
        (Output(0, ""), ""),
    ],
)
def test_p04_sentences_are_told_apart(output: Output, kind: str) -> None:
    assert nvidia_smi.trouble(output) == kind


def test_the_first_line_is_shown() -> None:
    assert nvidia_smi.sentence(Output(3, "\n\nNVML went away\nmore")) == "NVML went away"
    assert nvidia_smi.sentence(Output(3)) == "exit code 3 without a word"


def test_versions_of_module_and_library() -> None:
    text = VERSION.read_text(encoding="utf-8")
    assert nvidia_smi.module_version(Raw(files={nvidia_smi.MODULE_VERSION: text})) == "580.142"
    assert nvidia_smi.module_version(Raw(files={nvidia_smi.MODULE_VERSION: "NVRM version: NVIDIA"})) == ""
    assert nvidia_smi.library_version(Output(18, P04)) == "580.142"
