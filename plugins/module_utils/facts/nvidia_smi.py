# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``nvidia-smi`` says, in its CSV forms and in the sentences that stand there instead. Pure.

On a GB10 memory is ``[N/A]``, for it is the host's (field fault P01).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, MISSING, Output, Raw, Sources

FIELDS = (
    "index",
    "name",
    "driver_version",
    "utilization.gpu",
    "clocks.current.sm",
    "memory.total",
    "memory.used",
)
GPUS = "nvidia_smi"
PROCESSES = "nvidia_smi_processes"
MODULE_VERSION = "/proc/driver/nvidia/version"

SOURCES = Sources(
    files=(MODULE_VERSION,),
    commands={
        GPUS: ("nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"),
        PROCESSES: ("nvidia-smi", "--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader,nounits"),
    },
)

# Sorts of trouble; the first whose words are there is meant.
NOT_INSTALLED, NO_ANSWER, MISMATCH, NOT_LOADED, NO_LIBRARY, NO_DEVICE, LOST, DENIED, OTHER = (
    "not_installed",
    "no_answer",
    "mismatch",
    "not_loaded",
    "no_library",
    "no_device",
    "lost",
    "denied",
    "other",
)
_SENTENCES = (
    (MISMATCH, r"driver/library version mismatch"),
    (NOT_LOADED, r"couldn't communicate with the nvidia driver|driver not loaded"),
    (NO_LIBRARY, r"couldn't find libnvidia-ml|could not load.*libnvidia-ml|shared library not found"),
    (DENIED, r"insufficient permissions"),
    (NO_DEVICE, r"no devices were found|no supported gpus"),
    (LOST, r"gpu is lost|unable to determine the device handle|gpu requires reset|initialize nvml: unknown error"),
)
_UNIT = re.compile(r"^(-?\d+(?:\.\d+)?)(?: (?:%|MHz|MiB|W))?$")
_KERNEL_MODULE = re.compile(r"Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s")
_LIBRARY = re.compile(r"NVML library version: (\S+)")


@dataclass(frozen=True)
class Gpu:
    """One row of ``--query-gpu``; None where nvidia-smi gives no figure.

    :ivar utilization: in percent
    :ivar sm_clock: in MHz
    :ivar memory_total: in MiB; None with unified memory
    :ivar memory_used: in MiB; None with unified memory
    """

    index: int
    name: str
    driver: str = ""
    utilization: float | None = None
    sm_clock: float | None = None
    memory_total: float | None = None
    memory_used: float | None = None


@dataclass(frozen=True)
class Process:
    """A process that computes on the GPU.

    :ivar memory: in MiB; None on drivers that do not say
    """

    pid: int
    command: str
    memory: float | None


def read_gpus(text: str, fields: Sequence[str] = FIELDS) -> list[Gpu]:
    """Rows of ``--query-gpu=FIELDS --format=csv,noheader``; a line that is no such row is left out."""
    found = []
    for line in text.splitlines():
        values = [value.strip() for value in line.split(",")]
        row = dict(zip(fields, values, strict=False))
        if len(values) != len(fields) or not row.get("index", "").isdigit():
            continue
        found.append(
            Gpu(
                int(row["index"]),
                row.get("name", ""),
                row.get("driver_version", ""),
                number(row.get("utilization.gpu", "")),
                number(row.get("clocks.current.sm", "")),
                number(row.get("memory.total", "")),
                number(row.get("memory.used", "")),
            )
        )
    return found


def read_processes(text: str) -> list[Process]:
    """Rows of ``--query-compute-apps=pid,process_name,used_memory``; a name may hold commas (field fault P02)."""
    found = []
    for line in text.splitlines():
        pid, comma, rest = line.partition(",")
        name, second, memory = rest.rpartition(",")
        if comma and second and pid.strip().isdigit():
            found.append(Process(int(pid), name.strip(), number(memory)))
    return found


def processes(raw: Raw) -> list[Process] | None:
    """Who computes on the GPU; None when nvidia-smi does not say."""
    output = raw.output(PROCESSES)
    return None if trouble(output) else read_processes(output.out)


def number(text: str) -> float | None:
    """A figure with or without its unit; None for ``[N/A]`` and all other words."""
    match = _UNIT.match(text.strip())
    return float(match[1]) if match else None


def trouble(output: Output) -> str:
    """Which sort of trouble an answer tells of; empty when it is an answer (field fault P04)."""
    if output.code in (MISSING, LATE):
        return NOT_INSTALLED if output.code == MISSING else NO_ANSWER
    text = f"{output.out}\n{output.err}".lower()
    for kind, words in _SENTENCES:
        if re.search(words, text):
            return kind
    return "" if output.ok else OTHER


def sentence(output: Output) -> str:
    """The first line that is there, for people."""
    lines = [line.strip() for line in f"{output.out}\n{output.err}".splitlines() if line.strip()]
    return lines[0] if lines else f"exit code {output.code} without a word"


def module_version(raw: Raw) -> str:
    """The version of the kernel module that is loaded; empty when none is."""
    match = _KERNEL_MODULE.search(raw.text(MODULE_VERSION) + " ")
    return match[1] if match else ""


def library_version(output: Output) -> str:
    """The version of the library, which nvidia-smi names when the kernel module has another one."""
    match = _LIBRARY.search(output.out + output.err)
    return match[1] if match else ""
