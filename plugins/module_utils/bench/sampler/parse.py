# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel and nvidia-smi say, as the values of one sample. Pure; None where they say nothing."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import throttle
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import meminfo
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.nvidia_smi import number

# What is asked of nvidia-smi, by the names under which a sample has it, in this order. Why the clock is held down comes
# after them where the driver knows a field for it.
GPU_FIELDS = {
    "util_pct": "utilization.gpu",
    "power_w": "power.draw",
    "temp_c": "temperature.gpu",
    "clock_mhz": "clocks.sm",
    "memory_clock_mhz": "clocks.mem",
}
# Names of a sample's pressures: the file of /proc/pressure, and its line.
PRESSURES = {
    "memory_some": ("memory", "some"),
    "memory_full": ("memory", "full"),
    "cpu_some": ("cpu", "some"),
    "io_some": ("io", "some"),
}
# Interfaces that carry nothing of their own: loopback, and what Docker, libvirt and shapers make.
_VIRTUAL = re.compile(r"(lo|docker\d+|br-[0-9a-f]+|veth.*|virbr.*|ifb\d+|dummy\d+|tunl\d+|sit\d+)")
_PRESSURE = re.compile(r"^(some|full)\s.*?\bavg10=(\d+(?:\.\d+)?)", re.MULTILINE)
_USAGE = re.compile(r"^usage_usec (\d+)", re.MULTILINE)
_INACTIVE = re.compile(r"^(?:total_)?inactive_file (\d+)", re.MULTILINE)
_TOTAL_INACTIVE = re.compile(r"^total_inactive_file (\d+)", re.MULTILINE)


def memory(text: str) -> dict[str, int | None]:
    """The host's memory in bytes, from ``/proc/meminfo``."""
    found = meminfo.fields(text)
    swap, free = found.get("SwapTotal"), found.get("SwapFree")
    return {
        "total": found.get("MemTotal"),
        "available": found.get("MemAvailable"),
        "cached": found.get("Cached"),
        "swap_used": swap - free if swap is not None and free is not None else None,
    }


def pressures(texts: dict[str, str]) -> dict[str, float | None]:
    """Percent of the last ten seconds in which tasks waited.

    :param texts: of the files of ``/proc/pressure`` by their names; a kernel may have none
    """
    lines = {(name, line): float(value) for name, text in texts.items() for line, value in _PRESSURE.findall(text)}
    return {name: lines.get(source) for name, source in PRESSURES.items()}


def gpu(line: str) -> dict[str, Any]:
    """The GPU, from a line of CSV without units; all None for a line of another form.

    >>> found = gpu("96, 61.20, 74, 2411, [N/A], 0x0000000000000004")
    >>> found["memory_clock_mhz"], found["throttle"]
    (None, ['sw_power_cap'])
    """
    values = line.split(",")
    if len(values) not in (len(GPU_FIELDS), len(GPU_FIELDS) + 1):
        return nothing_of_gpu()
    found: dict[str, Any] = {name: number(value) for name, value in zip(GPU_FIELDS, values, strict=False)}
    held = throttle.reasons(values[-1]) if len(values) > len(GPU_FIELDS) else None
    return {**found, throttle.KEY: held}


def interfaces(text: str) -> dict[str, dict[str, int]]:
    """Bytes that each network interface received and sent so far, from ``/proc/net/dev``; virtual ones are left out."""
    found = {}
    for line in text.splitlines():
        name, colon, rest = line.rpartition(":")
        values = rest.split()
        if colon and len(values) >= 16 and values[0].isdigit() and values[8].isdigit() and is_real(name.strip()):
            found[name.strip()] = {"rx": int(values[0]), "tx": int(values[8])}
    return found


def is_real(interface: str) -> bool:
    """Whether an interface can carry data between hosts."""
    return not _VIRTUAL.fullmatch(interface)


def groups(text: str) -> dict[str, list[str]]:
    """Folders of a process's control group, from ``/proc/PID/cgroup``: where its CPU time and its memory may be.

    :returns: paths under ``/sys/fs/cgroup`` for ``cpu`` and ``memory``, version 2 before version 1
    """
    found: dict[str, list[str]] = {"cpu": [], "memory": []}
    for line in sorted(text.splitlines(), key=lambda line: not line.startswith("0::")):
        number_, _colon, rest = line.partition(":")
        controllers, _colon, path = rest.partition(":")
        for kind, controller in (("cpu", "cpuacct"), ("memory", "memory")):
            if number_ == "0" and not controllers:
                found[kind].append(path.strip("/"))
            elif controller in controllers.split(","):
                found[kind].append(f"{controllers}/{path.strip('/')}".rstrip("/"))
    return found


def cpu_seconds(text: str) -> float | None:
    """CPU time of a control group, from ``cpu.stat`` (version 2) or ``cpuacct.usage`` (version 1)."""
    if text.strip().isdigit():
        return round(int(text) / 1e9, 3)
    usage = _USAGE.search(text)
    return round(int(usage[1]) / 1e6, 3) if usage else None


def group_memory(current: str, stat: str) -> int | None:
    """Bytes that a control group holds, without copies of files that nobody uses, as ``docker stats`` counts.

    :param stat: ``memory.stat``; in version 1 the figure that counts has ``total_`` before its name
    """
    if not current.strip().isdigit():
        return None
    inactive = _TOTAL_INACTIVE.search(stat) or _INACTIVE.search(stat)
    return max(0, int(current) - (int(inactive[1]) if inactive else 0))


def nothing_of_gpu() -> dict[str, Any]:
    """A GPU of which nothing is known."""
    return dict.fromkeys((*GPU_FIELDS, throttle.KEY))
