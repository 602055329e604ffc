# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What hosts went through during a run: memory, GPU clock and heat, containers, and hosts that were not seen. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import (
    ERROR,
    WARNING,
    Finding,
    finding,
    note,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.watched import (
    AROUND,
    Window,
    figures,
    keyed,
    merged,
    number,
    within,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import throttle
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB, gib

Samples = Sequence[Mapping[str, Any]]

# Bytes available under which an engine on unified memory is about to be killed, or the host to stand still.
FLOOR = 4 * GIB
# A GPU's clock is judged in groups of so many samples in which it was used to so many percent.
CLOCK_SAMPLES, CLOCK_USE = 10, 50.0
CLOCK_FALL = 0.8
HOT = 90.0
# Share of the measured samples in which the hardware or heat may hold the clock down.
SLOWED = 0.05
# Of one core.
SAMPLER_COST = 0.01


def of_host(host: str, samples: Samples, times: Sequence[Window], redeployed: bool = False) -> list[Finding]:
    """Findings of a host that was seen.

    :param times: when rounds that count were
    :param redeployed: whether the run itself put other containers there between rounds
    """
    if not times:
        return []
    begin, end = min(time.start for time in times), max(time.end for time in times)
    before = [sample for sample in samples if sample["t"] < begin][-1:]
    after = [sample for sample in samples if sample["t"] > end][:1]
    during = [sample for sample in samples if begin <= sample["t"] <= end]
    whole = [*before, *during, *after]
    if not during:
        return [_unseen(host, "no sample")]
    busy = within(during, times)
    blind = [time for time in times if not within(samples, [time], AROUND)]
    partly = [_partly(host, len(blind), len(times))] if blind else []
    spans = [within(samples, [time]) for time in merged(times)] if redeployed else [whole]
    gone = [one for span in spans for one in _containers(host, span)]
    return [*partly, *_memory(host, whole), *_gpu(host, during), *_clock(host, busy), *_slowed(host, busy), *gone]


def of_unseen(host: str) -> Finding:
    """A host that belongs to a target and of which there are no samples at all."""
    return _unseen(host, "no samples")


def _unseen(host: str, found: str) -> Finding:
    return finding(
        "host_not_seen",
        WARNING,
        host,
        f"{found} of the measured time",
        "one each second",
        "Take its memory and GPU to be unknown; see that its clock is right, and that benchmark_sampler runs there.",
    )


def _partly(host: str, blind: int, rounds: int) -> Finding:
    """A host that was seen in some rounds only, as in a run that was interrupted and went on."""
    return finding(
        "host_partly_seen",
        WARNING,
        host,
        f"{blind} of {rounds} rounds played while nobody watched it",
        "a sample each second",
        "Take its memory and GPU in them to be unknown; see whether it or its sampler was started anew meanwhile.",
    )


def of_sampler(host: str, errors: Sequence[str], cost: Any) -> list[Finding]:
    """What the sampler itself had to say."""
    found: list[Finding] = [
        {"code": "sampler_error", "severity": WARNING, "text": f"{host}: {error}"} for error in errors
    ]
    cpu, seconds = number(cost, "cpu_s"), number(cost, "seconds")
    if cpu is not None and seconds and seconds > 30 and cpu / seconds > SAMPLER_COST:
        found.append(
            finding(
                "sampler_cost",
                WARNING,
                host,
                f"a sampler that takes {100 * cpu / seconds:.1f} % of a core",
                f"under {100 * SAMPLER_COST:.0f} %",
                "See whether nvidia-smi is slow there: its CPU time counts with it.",
            )
        )
    return found


def _memory(host: str, samples: Samples) -> list[Finding]:
    found = []
    available = figures(samples, "mem", "available")
    if available and min(available) < FLOOR:
        found.append(
            finding(
                "memory_short",
                WARNING,
                host,
                f"only {gib(int(min(available)))} of memory available",
                f"{gib(FLOOR)} or more all the time",
                "Lower gpu_memory_utilization, max_model_len or max_num_seqs.",
            )
        )
    swap = figures(samples, "mem", "swap_used")
    if swap and max(swap) > 0:
        grown = f", {gib(int(max(swap) - swap[0]))} of it since the start" if max(swap) > swap[0] else ""
        found.append(
            finding(
                "swap_used",
                WARNING,
                host,
                f"{gib(int(max(swap)))} of swap in use{grown}",
                "none",
                "Switch swap off with the role host, and leave the engine less memory.",
            )
        )
    stalled = figures(samples, "psi", "memory_full")
    if stalled and max(stalled) > 0:
        found.append(
            finding(
                "memory_stall",
                WARNING,
                host,
                f"all tasks waiting for memory for up to {max(stalled):g} % of ten seconds",
                "0 %",
                "Leave the engine less memory: figures of these seconds are the disk's, not the GPU's.",
            )
        )
    return found


def _gpu(host: str, samples: Samples) -> list[Finding]:
    fields = ("util_pct", "power_w", "temp_c", "clock_mhz", "memory_clock_mhz")
    if not any(figures(samples, "gpu", field) for field in fields):
        text = f"{host}: nvidia-smi gave no figure of the GPU, so use, clock, power and heat are not known."
        return [note("gpu_unknown", text)]
    heat = figures(samples, "gpu", "temp_c")
    if not heat or max(heat) <= HOT:
        return []
    return [
        finding(
            "gpu_hot",
            WARNING,
            host,
            f"a GPU of up to {max(heat):.0f} °C",
            f"{HOT:.0f} °C at most",
            "Give it air: it lowers its clock above that.",
        )
    ]


def _clock(host: str, samples: Samples) -> list[Finding]:
    """A clock that fell while the GPU had work, which is how it protects itself from heat or want of power."""
    clocks = [
        clock
        for clock, use in ((number(one, "gpu", "clock_mhz"), number(one, "gpu", "util_pct")) for one in samples)
        if clock is not None and use is not None and use >= CLOCK_USE
    ]
    starts = range(0, len(clocks) - CLOCK_SAMPLES + 1, CLOCK_SAMPLES)
    levels = [median(clocks[start : start + CLOCK_SAMPLES]) for start in starts]
    if len(levels) < 2:
        return []
    highest, lowest = max(levels), min(levels[levels.index(max(levels)) :])
    if lowest >= CLOCK_FALL * highest:
        return []
    return [
        finding(
            "gpu_clock_fell",
            WARNING,
            host,
            f"a GPU clock that fell under load from {highest:.0f} to {lowest:.0f} MHz",
            f"{CLOCK_FALL * highest:.0f} MHz or more",
            "Look at heat and power supply, set gpu_clock_max, and measure again: rounds are not alike.",
        )
    ]


def _slowed(host: str, samples: Samples) -> list[Finding]:
    """A clock that nvidia-smi says was held down by the hardware, by heat or by the power supply."""
    slowed = throttle.share_of_any(samples, throttle.SLOWDOWNS)
    if slowed is None or slowed <= SLOWED:
        return []
    active = throttle.shares(samples) or {}
    named = ", ".join(f"{name} {100 * active[name]:.0f} %" for name in throttle.SLOWDOWNS if name in active)
    return [
        finding(
            "gpu_slowed",
            WARNING,
            host,
            f"its GPU slowed down by hardware or heat in {100 * slowed:.0f} % of the measured samples ({named})",
            f"{100 * SLOWED:.0f} % at most",
            "Give it air, look at its power supply, and measure again: it is faster than these figures.",
        )
    ]


def _containers(host: str, samples: Samples) -> list[Finding]:
    """Containers that were started again or went away while these samples were taken."""
    if not samples:
        return []
    found = []
    last = keyed(samples[-1], "containers")
    for name in sorted({name for sample in samples for name in keyed(sample, "containers")}):
        # A container's CPU time only grows; a new process of it begins at nothing.
        spent = figures(samples, "containers", name, "cpu_s")
        if any(after < before for before, after in pairwise(spent)):
            found.append(
                finding(
                    "container_restarted",
                    ERROR,
                    f"{name} on {host}",
                    "a container that was started again during the run",
                    "one that runs all the time",
                    "Look into its log and journalctl -u dgxspark-replica@* for why, and measure again.",
                )
            )
        elif name not in last:
            found.append(
                finding(
                    "container_gone",
                    ERROR,
                    f"{name} on {host}",
                    "no container any more when the run ended",
                    "one that runs all the time",
                    "Look into journalctl -u dgxspark-replica@* for why, and measure again.",
                )
            )
    return found
