# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sort of machine a host is, as a result keeps it: ENV. Pure; None where the host does not say."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.parse import is_real
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import machine, meminfo, netdev, nvidia_smi
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

KERNEL = "/proc/sys/kernel/osrelease"
PROFILE = "/sys/firmware/acpi/platform_profile"
TUNED = "/etc/tuned/active_profile"
CPU = "/sys/devices/system/cpu/cpu0/cpufreq"
GOVERNOR, CPU_MAX = f"{CPU}/scaling_governor", f"{CPU}/scaling_max_freq"
# The clock of a container is the machine's, and asking for it starts a service.
_NOT_IN_CONTAINER = f"[ -s {machine.CONTAINER} ] || exec "
GPU_FIELDS = ("driver_version", "clocks.max.sm", "persistence_mode")
SOURCES = Sources(
    files=(
        machine.OS_RELEASE,
        machine.DGX_RELEASE,
        KERNEL,
        meminfo.PATH,
        PROFILE,
        TUNED,
        GOVERNOR,
        CPU_MAX,
        nvidia_smi.MODULE_VERSION,
        f"{netdev.NET}/*/speed",
        f"{netdev.NET}/*/mtu",
    ),
    commands={
        "gpu": ("nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader,nounits"),
        "gpu_table": ("nvidia-smi",),
        "chrony": ("sh", "-c", f"{_NOT_IN_CONTAINER}chronyc -c tracking"),
        "timesync": ("sh", "-c", f"{_NOT_IN_CONTAINER}timedatectl timesync-status"),
    },
)
_CUDA = re.compile(r"CUDA Version:\s*(\d+\.\d+)")
_OFFSET = re.compile(r"^\s*Offset:\s*([+-]?\d+(?:\.\d+)?)(us|ms|s|min)\s*$", re.MULTILINE)
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "min": 60000.0}
# What chronyc -c tracking has fifth is how far the clock is off, in seconds.
_CHRONY_OFFSET, _CHRONY_FIELDS = 4, 14


def read(raw: Raw, python: str, cpus: int | None, page_size: int) -> dict[str, Any]:
    """ENV of a host.

    :param python: version of the interpreter that runs modules there
    """
    memory = meminfo.fields(raw.text(meminfo.PATH))
    driver, gpu_clock, persistence = _gpu(raw)
    cuda = _CUDA.search(raw.output("gpu_table").out)
    return {
        "os": _system(raw),
        "kernel": raw.text(KERNEL) or None,
        "driver": driver,
        "cuda": cuda[1] if cuda else None,
        "python": python,
        "power_mode": raw.text(PROFILE) or raw.text(TUNED) or None,
        "clocks": {
            "gpu_sm_max_mhz": gpu_clock,
            "gpu_persistence": persistence,
            "cpu_max_mhz": _number(raw.text(CPU_MAX), 1000),
            "cpu_governor": raw.text(GOVERNOR) or None,
        },
        "mem_total": memory.get("MemTotal"),
        "page_size": page_size,
        "swap": memory.get("SwapTotal"),
        "cpus": cpus,
        "nic": _nics(raw),
        "time_offset_ms": _offset(raw),
    }


def _system(raw: Raw) -> str | None:
    name = machine.assignments(raw.text(machine.OS_RELEASE)).get("PRETTY_NAME", "")
    dgx = machine.dgx_os(raw.text(machine.DGX_RELEASE))
    return (f"DGX OS {dgx} ({name})" if dgx else name) or None


def _gpu(raw: Raw) -> tuple[str | None, float | None, str | None]:
    """Version of the driver, highest clock in MHz, persistence mode."""
    output = raw.output("gpu")
    values = [value.strip() for value in (output.out.splitlines() or [""])[0].split(",")]
    if nvidia_smi.trouble(output) or len(values) != len(GPU_FIELDS):
        # The module that is loaded says its version without nvidia-smi.
        return nvidia_smi.module_version(raw) or None, None, None
    persistence = values[2] if values[2] in ("Enabled", "Disabled") else None
    return values[0] or None, nvidia_smi.number(values[1]), persistence


def _nics(raw: Raw) -> list[dict[str, Any]]:
    names = {path.split("/")[-2] for path in raw.files if path.startswith(f"{netdev.NET}/")}
    return [
        {
            "name": name,
            "speed_mbps": netdev.speed(raw, name),
            "mtu": _number(raw.text(f"{netdev.NET}/{name}/mtu")),
        }
        for name in sorted(names)
        if is_real(name)
    ]


def _number(text: str, divisor: int = 1) -> int | None:
    return int(text) // divisor if text.isdigit() else None


def _offset(raw: Raw) -> float | None:
    """Milliseconds by which the host's clock is off, as its time service has it."""
    fields = raw.output("chrony").out.strip().split(",")
    if len(fields) >= _CHRONY_FIELDS:
        try:
            return round(float(fields[_CHRONY_OFFSET]) * 1000, 3)
        except ValueError:
            return None
    said = _OFFSET.search(raw.output("timesync").out)
    return round(float(said[1]) * _MILLISECONDS[said[2]], 3) if said else None
