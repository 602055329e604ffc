# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of memory and swap: will the engine start, and will the host survive it. Pure.

Engine and system share memory here. Page cache can be had again, but the engine's own check at its start counts it as
used; what a GPU holds is no process's memory and no file's.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import meminfo, nvidia_smi, pressure, swap
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import (
    Memory,
    gib,
    needed,
)

NO_PLAN = "no engine is planned here"
UNREADABLE = f"{meminfo.PATH} cannot be read"
SHARE_CEILING = 0.85
# Share of all memory that may be held by nothing that is known: an idle driver and a desktop take some GiB.
UNEXPLAINED = 0.1
# Percent of a minute in which all tasks waited for memory.
PRESSURE = 10.0
SMALLER = "set a smaller serving_gpu_memory_utilization"
PREPARE = "Run the playbook prepare, which turns swap off for good"


def sources(want: Want) -> Sources:
    """What to read and run."""
    return Sources((meminfo.PATH, pressure.PATH)) | swap.sources()


def checks(raw: Raw, want: Want) -> list[Check]:
    """All checks of the group, in order."""
    fields = meminfo.fields(raw.text(meminfo.PATH))
    on, returns = swap.swaps(raw.files.get(swap.SWAPS, "")), swap.returns(raw)
    return [
        need(fields, want),
        leftover(fields, want, on, nvidia_smi.processes(raw)),
        utilization(fields, want),
        swap_on(on) if swap.SWAPS in raw.files else skipped("memory.swap", f"{swap.SWAPS} cannot be read"),
        swap_returns(returns),
        stalls(pressure.full_avg60(raw.text(pressure.PATH))),
    ]


def facts(raw: Raw, want: Want) -> dict[str, Any]:
    """Sizes in bytes, swap that is on, and what brings it back."""
    fields = meminfo.fields(raw.text(meminfo.PATH))
    sizes = {}
    if _known(fields):
        sizes = {
            "total": fields["MemTotal"],
            "available": fields["MemAvailable"],
            "used": meminfo.used(fields),
            "free": fields.get("MemFree"),
            "cache": meminfo.cache(fields),
        }
    return {
        **sizes,
        "swap": [one.device for one in swap.swaps(raw.files.get(swap.SWAPS, ""))],
        "swap_returns": [str(one) for one in swap.returns(raw)],
    }


def _known(fields: dict[str, int]) -> bool:
    return "MemTotal" in fields and "MemAvailable" in fields


def _back(fields: dict[str, int], want: Want) -> int:
    return int(sum(filter(None, want.shares_back)) * fields["MemTotal"])


def need(fields: dict[str, int], want: Want) -> Check:
    """Whether the engine gets its share: for certain, after the page cache is dropped, or not (field fault U01)."""
    name = "memory.need"
    if want.memory_share is None:
        return skipped(name, NO_PLAN)
    if want.settled:
        return passed(name, "the engine has it already")
    if not _known(fields):
        return skipped(name, UNREADABLE)
    memory, back = Memory(fields["MemTotal"], fields["MemAvailable"]), _back(fields, want)
    total = needed(memory, want.memory_share, want.memory_floor)
    own = needed(memory, want.memory_share, 0)
    free = fields.get("MemFree", memory.available)
    given = f" and {gib(back)} that running engines give back" if back else ""
    found = f"{gib(free)} free, {gib(memory.available)} available{given}"
    if memory.available + back < total:
        if None in want.shares_back:
            return skipped(name, f"{found}; what a running engine gives back is not known")
        wanted = (
            f"{gib(total)} of {gib(memory.total)}: {want.memory_share:g} for the engine, {gib(want.memory_floor)} kept"
        )
        fits = largest_share(fields, want)
        return failed(name, found, wanted, f"Stop what else uses memory there, or {SMALLER}, at most {fits:.2f}")
    if free + back < own and None not in want.shares_back:
        return warned(
            name,
            found,
            f"{gib(own)} free",
            "Drop caches first: run the playbook prepare with host_drop_caches=true",
            "An engine counts page cache as used when it starts, although the kernel would give it back.",
        )
    return passed(name, found)


def leftover(fields: dict[str, int], want: Want, on: list[swap.Swap], processes: list[Any] | None) -> Check:
    """Whether memory is held although no engine runs: a dead one's, until a reboot at worst."""
    name = "memory.leftover"
    if not _known(fields) or "AnonPages" not in fields:
        return skipped(name, UNREADABLE)
    if want.shares_back or want.settled or processes:
        return skipped(name, "engines run, and hold memory")
    # Swap in compressed memory is nobody's memory, too; it is never larger than what it holds.
    zram = sum(one.used for one in on if "zram" in one.device)
    held, limit = meminfo.unexplained(fields) - zram, int(UNEXPLAINED * fields["MemTotal"])
    found = f"{gib(max(0, held))} held by no process and no file"
    if held <= limit:
        return passed(name, found)
    remedy = "Look with nvidia-smi and 'docker ps' for an engine that still ends; reboot the host if there is none"
    return warned(name, found, f"at most {gib(limit)}", remedy, "An engine that was killed can leave memory held.")


def largest_share(fields: dict[str, int], want: Want) -> float:
    """The largest share of all memory that an engine can have now, rounded down to a percent."""
    left = fields["MemAvailable"] + _back(fields, want) - want.memory_floor
    return max(0, left * 100 // fields["MemTotal"]) / 100


def utilization(fields: dict[str, int], want: Want) -> Check:
    """The share of memory that fits, against the wanted one."""
    name = "memory.utilization"
    if not _known(fields):
        return skipped(name, UNREADABLE)
    if want.memory_share is not None and want.memory_share > SHARE_CEILING:
        return warned(
            name,
            f"{want.memory_share:g}",
            f"at most {SHARE_CEILING:g}",
            "Set serving_gpu_memory_utilization to 0.7, or to 0.85 at most",
            "The engine takes more than its share, and no limit of a container covers the GPU's memory.",
        )
    if want.settled or None in want.shares_back:
        return passed(name, f"{want.memory_share:g} is in use" if want.settled else "engines run")
    largest = largest_share(fields, want)
    if want.memory_share is not None and want.memory_share > largest:
        return skipped(name, f"at most {largest:.2f} fits: follows from memory.need")
    return passed(name, f"at most {largest:.2f} fits")


def swap_on(on: list[swap.Swap]) -> Check:
    """Whether swap is on."""
    if not on:
        return passed("memory.swap", "off")
    found = ", ".join(f"{one.device} {gib(one.size)} ({gib(one.used)} used)" for one in on)
    detail = "With swap on, too little memory makes the host unresponsive until its power is cycled."
    return warned("memory.swap", found, "off", PREPARE, detail)


def swap_returns(returns: list[swap.Returns]) -> Check:
    """Whether something switches swap on again (field fault P11)."""
    if not returns:
        return passed("memory.swap_returns", "nothing")
    return warned("memory.swap_returns", ", ".join(map(str, returns)), "nothing that switches swap on", PREPARE)


def stalls(percent: float | None) -> Check:
    """Whether everything waited for memory lately."""
    name = "memory.pressure"
    if percent is None:
        return skipped(name, f"the kernel has no {pressure.PATH}; it takes psi=1 at boot")
    found = f"{percent:g} % of the last minute"
    if percent < PRESSURE:
        return passed(name, found)
    remedy = "Stop what uses memory there; see who waits with: cat /proc/pressure/memory"
    return warned(name, found, f"under {PRESSURE:g} %", remedy, "In that time all tasks waited for memory.")
