# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 6: memory that engine and system share. Input and expectation are those of the fault's row."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import host_problems, plan, readiness
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import gpu
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import memory as memory_checks
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import (
    GIB,
    Memory,
    gib,
    parse_meminfo,
    under_floor,
)
from tests.field.inventories import faults, pair
from tests.field.looked import answer, captured
from tests.unit.plugins.module_utils.supervisor.pretended_group import Group

CHECKOUT = Path(__file__).parents[2]


def memory(available: float) -> Memory:
    """Memory of a host of 120 GiB."""
    return Memory(120 * GIB, int(available * GIB))


U01 = """\
MemTotal: 127600000 kB
MemFree: 41200000 kB
MemAvailable: 103900000 kB
Cached: 62000000 kB
"""


def test_u01_page_cache_keeps_no_engine_from_its_start() -> None:
    assert host_problems.memory(parse_meminfo(U01), 0.70, 6 * GIB, []) == []


def test_u01_page_cache_in_the_way_is_dropped_first() -> None:
    want = {"memory_share": 0.70, "memory_floor": 6 * GIB}
    check = answer(memory_checks, "memory.need", captured({"/proc/meminfo": U01}), **want)
    assert check.status == "warn"
    assert check.found == "39.3 GiB free, 99.1 GiB available"
    assert check.wanted.startswith("85.2 GiB")  # 89320000 kB
    assert "host_drop_caches" in check.remedy
    # Without the cache there is too little.
    full = U01.replace("103900000", "41200000")
    assert answer(memory_checks, "memory.need", captured({"/proc/meminfo": full}), **want).status == "fail"


# MemAvailable in GiB by second.
U02 = [88, 61, 33, 14, 7, 5]


def test_u02_the_engine_is_stopped_on_its_host_at_the_last_sample() -> None:
    assert [bool(under_floor(memory(sample), 6 * GIB)) for sample in U02] == [False] * 5 + [True]
    group = Group(1, restart_limit=0)
    group.hosts[0].healthy = False
    group.boot()
    group.run_until(lambda: group.phases() == ["loading"])
    for sample in U02[:-1]:
        group.hosts[0].memory = memory(sample)
        group.run(1)
        assert "r0 kill" not in group.story
    group.hosts[0].memory = memory(U02[-1])
    group.turn()
    assert "r0 kill" in group.story
    assert group.hosts[0].state.last_restart.reason == "memory available 5.0 GiB is under the floor of 6.0 GiB"


def test_u02_the_wait_ends_and_says_why() -> None:
    running = Container("dgxspark-tp1-0-r0", "running", 0, False, "tp1", "tp1-0", "")
    wanted = readiness.Wanted("tiny", memory_floor=6 * GIB)
    enough, too_little = (
        readiness.judge(readiness.Observation(running, memory=[sample * GIB for sample in samples]), wanted)
        for samples in (U02[:-1], U02)
    )
    assert (enough.state, too_little.state) == (readiness.WAITING, readiness.FAILED)
    assert too_little.detail == "the host's available memory fell to 5.0 GiB, under the floor of 6.0 GiB"


def test_u05_a_start_waits_until_the_old_engines_memory_is_back() -> None:
    """Stop at t=0; GiB available: t0 9, t20 31, t45 74, t60 104; need 86."""
    group = Group(1, memory_floor=2 * GIB)
    group.boot()
    group.serve()
    group.end(0)
    group.story.clear()
    stop = group.now
    for second, available in ((20, 9), (45, 31), (60, 74)):
        group.hosts[0].memory = memory(available)
        group.run(stop + second - group.now)
        assert group.story.count("r0 start") == 0, f"t={second}"
    group.hosts[0].memory = memory(104)
    group.turn()
    assert group.story[-1] == "r0 start"


def test_u06_rays_memory_monitor_is_off_on_head_and_worker() -> None:
    for host, rank in plan.make(pair(extra={"backend": "ray"}))["ranks"].items():
        assert rank["container"]["env"].get("RAY_memory_monitor_refresh_ms") == "0", host


@pytest.mark.parametrize("name", ["serving_mem_limit", "serving_memory_limit"])
def test_u08_a_limit_is_no_protection_that_we_offer(name: str) -> None:
    """mem_limit: 80g with gpu_memory_utilization: 0.85."""
    [line] = faults(pair(everywhere={name: "80g", "serving_gpu_memory_utilization": 0.85}))
    assert line.startswith(f"{name}")
    assert "found an unknown variable" in line
    for rank in plan.make(pair())["ranks"].values():
        assert not [option for option in rank["container"] if "memory" in option or option.startswith("mem_")]


def test_u08_the_documentation_says_that_a_limit_does_not_cover_gpu_pages() -> None:
    text = (CHECKOUT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    part = text.partition("### memory.utilization\n")[2].partition("\n### ")[0]
    assert "does not cover the GPU's pages" in part


def test_u10_used_is_what_cannot_be_had_and_an_engine_is_what_the_gpu_says() -> None:
    """MemTotal 127600000, MemAvailable 78700000 kB, RSS python 410000 kB, compute-apps 38550 MiB."""
    raw = captured(
        {"/proc/meminfo": "MemTotal: 127600000 kB\nMemAvailable: 78700000 kB\nAnonPages: 410000 kB\n"},
        nvidia_smi="0, NVIDIA GB10, 580.95.05, 3, 2400, [N/A], [N/A]\n",
        nvidia_smi_processes="4242, /usr/bin/python3, 38550\n",
    )
    assert gib(memory_checks.facts(raw, Want())["used"]) == "46.6 GiB"
    [engine] = gpu.facts(raw, Want())["processes"]
    assert gib(int(engine["memory"] * 2**20)) == "37.6 GiB"
