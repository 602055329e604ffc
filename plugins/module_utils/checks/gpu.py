# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the GPU is there, for the host and for containers, runs at its speed and is free. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import gpu_container
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import docker_info, kernels, nvidia_smi
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw, Sources

# Process ids of our running containers, as the edge finds them.
OUR_PIDS = "our_pids"
# Percent of use from which the clock tells something, and MHz that only a bad USB-PD negotiation holds it under then;
# a healthy GB10 is at about 2400.
BUSY, STUCK = 50, 850
NO_FIGURES = "nvidia-smi has no figures of memory here: it is the host's, and /proc/meminfo counts it."
FOLLOWS = "follows from gpu.driver"
# Trouble with the GPU rather than with the driver.
_ABSENT = (nvidia_smi.NO_DEVICE, nvidia_smi.LOST)
# What is found and what to do, for the troubles that need no further look.
_DRIVER = {
    nvidia_smi.NOT_INSTALLED: (
        "no nvidia-smi",
        "Install the driver, e.g. with: apt install nvidia-driver-580-open, and reboot.",
    ),
    nvidia_smi.NO_ANSWER: ("nvidia-smi gave no answer", "Shut the host down, and switch it on again."),
    nvidia_smi.NO_LIBRARY: (
        "nvidia-smi without its library",
        "Install the driver anew, e.g. with: apt install --reinstall nvidia-driver-580-open.",
    ),
    nvidia_smi.DENIED: (
        "this user may not use the GPU",
        "Set ansible_become for the host, or add the user to the groups video and render.",
    ),
}
_OTHER_REMEDY = "Run nvidia-smi on the host; journalctl -k --grep NVRM shows what the driver said."


def sources(want: Want) -> Sources:
    """What to read and run."""
    return nvidia_smi.SOURCES | kernels.SOURCES | docker_info.SOURCES | gpu_container.sources(want)


def facts(raw: Raw, want: Want) -> dict[str, Any]:
    """What is worth knowing of the GPU; empty words where nvidia-smi does not say."""
    rows = nvidia_smi.read_gpus(raw.output(nvidia_smi.GPUS).out)
    return {
        "name": rows[0].name if rows else "",
        "driver": rows[0].driver if rows else nvidia_smi.module_version(raw),
        "processes": [asdict(process) for process in nvidia_smi.processes(raw) or ()],
    }


def checks(raw: Raw, want: Want) -> list[Check]:
    """All answers about the GPU."""
    output = raw.output(nvidia_smi.GPUS)
    first = [driver(raw, output), visible(output)]
    engine = docker_info.engine(raw)
    if first[0].status != "pass" or first[1].status != "pass":
        cause = FOLLOWS if first[0].status != "pass" else "follows from gpu.visible"
        runtime = gpu_container.runtime(raw, engine, None)
        return [*first, runtime, *(skipped(f"gpu.{word}", cause) for word in ("container", "clocks", "processes"))]
    return [*first, *gpu_container.checks(raw, want, engine), clocks(output), processes(raw)]


def driver(raw: Raw, output: Output) -> Check:
    """Whether the driver runs."""
    name, trouble, rows = "gpu.driver", nvidia_smi.trouble(output), nvidia_smi.read_gpus(output.out)
    loaded = nvidia_smi.module_version(raw)
    if not trouble or trouble in _ABSENT:
        return passed(name, (rows[0].driver if rows else loaded) or "loaded")
    if trouble == nvidia_smi.MISMATCH:
        versions = [version for version in (loaded, nvidia_smi.library_version(output)) if version]
        words = "driver and library differ" + (f": {' and '.join(versions)}" if len(versions) > 1 else "")
        return failed(name, words, "one version", "Reboot.", "The driver was updated, and the old one still runs.")
    if trouble == nvidia_smi.NOT_LOADED:
        return _not_loaded(raw)
    unknown = f"nvidia-smi says: {nvidia_smi.sentence(output)}", _OTHER_REMEDY
    found, remedy = _DRIVER.get(trouble, unknown)
    return failed(name, found, "nvidia-smi that answers", remedy)


def _not_loaded(raw: Raw) -> Check:
    release, modules = kernels.running(raw), kernels.modules(raw)
    branch = next((branch for branch in modules.values() if branch), "")
    remedy = "Load it with: modprobe nvidia; journalctl -k --grep NVRM says why it does not load."
    found = "the NVIDIA module is not loaded"
    if modules and release not in modules:
        found = f"kernel {release} has no NVIDIA module; {', '.join(sorted(modules))} has one"
        package = f"linux-modules-{branch}-{release}" if branch else f"the module for {release}"
        remedy = f"Install {package}, or boot the kernel that has one."
    return failed("gpu.driver", found, "the module in the kernel", remedy)


def visible(output: Output) -> Check:
    """Whether the host sees a GPU: a row with its name says so, figures or not (field faults P01 and P04)."""
    name, trouble, rows = "gpu.visible", nvidia_smi.trouble(output), nvidia_smi.read_gpus(output.out)
    if trouble and trouble not in _ABSENT:
        return skipped(name, FOLLOWS)
    if trouble == nvidia_smi.LOST:
        remedy = "Shut the host down, unplug its power for a minute, and switch it on again."
        return failed(name, f"the GPU is lost: {nvidia_smi.sentence(output)}", "a GPU", remedy)
    if trouble or not rows:
        remedy = "Reboot; lspci -d 10de: shows whether the GPU is on the bus."
        return failed(name, "nvidia-smi lists no GPU", "a GPU", remedy)
    return passed(name, ", ".join(row.name for row in rows), "" if rows[0].memory_total else NO_FIGURES)


def clocks(output: Output) -> Check:
    """Whether the GPU is held at a low clock, which shows under load alone."""
    name = "gpu.clocks"
    rows = [row for row in nvidia_smi.read_gpus(output.out) if row.sm_clock is not None and row.utilization is not None]
    busy = [row for row in rows if (row.utilization or 0) >= BUSY]
    if not busy:
        return skipped(name, "idle: a clock that is held low shows under load only" if rows else "no figures")
    slow = [row for row in busy if (row.sm_clock or 0) <= STUCK]
    shown = ", ".join(f"{row.sm_clock:.0f} MHz at {row.utilization:.0f} % use" for row in slow or busy)
    if not slow:
        return passed(name, shown)
    return warned(
        name,
        shown,
        "about 2400 MHz",
        "Shut the host down, unplug its power supply from wall and host for 60 s, and start again.",
        "A bad USB-PD negotiation holds the GPU at 500 to 850 MHz until its power is gone.",
    )


def processes(raw: Raw) -> Check:
    """Who else computes on the GPU (field fault P02)."""
    name, found, ours = "gpu.processes", nvidia_smi.processes(raw), raw.output(OUR_PIDS)
    if found is None:
        return skipped(name, f"nvidia-smi says: {nvidia_smi.sentence(raw.output(nvidia_smi.PROCESSES))}")
    if not found:
        return passed(name, "none")
    if not ours.ok:
        return skipped(name, f"{len(found)}, and whose they are is not known")
    others = [one for one in found if str(one.pid) not in ours.out.split()]
    if not others:
        return passed(name, "ours only")
    shown = ", ".join(f"{_command(one)} (process {one.pid}, {_memory(one)})" for one in others)
    remedy = "Stop it, or leave it room with a smaller serving_gpu_memory_utilization."
    return warned(name, shown, "no process but our engine's", remedy)


def _command(one: nvidia_smi.Process) -> str:
    # The driver writes a sentence in brackets where it may not say the name.
    return one.command.rpartition("/")[2] if one.command and not one.command.startswith("[") else "a process"


def _memory(one: nvidia_smi.Process) -> str:
    return "memory unknown" if one.memory is None else f"{one.memory:.0f} MiB"
