# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of memory and swap."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import memory
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import GROUPS
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import meminfo, nvidia_smi, pressure, swap
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB

U01 = "MemTotal: 127600000 kB\nMemFree: 41200000 kB\nMemAvailable: 103900000 kB\nCached: 62000000 kB\n"
WANT = Want(world_size=1, memory_share=0.7)
SWAPS = "Filename\tType\tSize\tUsed\tPriority\n"


def spark(free: int, available: int, anon: int = 0) -> str:
    """A host of 120 GiB, in GiB; page cache is what is available beyond what is free."""
    sizes = {"MemTotal": 120, "MemFree": free, "MemAvailable": available, "Cached": available - free, "AnonPages": anon}
    return "".join(f"{name}: {size * GIB // 1024} kB\n" for name, size in sizes.items())


def checks(raw: Raw, want: Want) -> dict[str, Check]:
    return {check.id.removeprefix("memory."): check for check in memory.checks(raw, want)}


def look(text: str, want: Want = WANT) -> dict[str, Check]:
    return checks(Raw({meminfo.PATH: text, swap.SWAPS: SWAPS}), want)


@pytest.mark.parametrize("text", ["", "cut", "MemTotal: 1 kB\n", U01])
def test_one_answer_for_each_id(text: str) -> None:
    assert tuple(look(text)) == GROUPS["memory"]
    assert tuple(checks(Raw(), Want())) == GROUPS["memory"]


def test_everything_that_is_judged_is_read() -> None:
    sources = memory.sources(WANT)
    assert {meminfo.PATH, swap.SWAPS, pressure.PATH, "/etc/fstab"} <= set(sources.files)
    assert list(sources.commands) == [swap.LISTED]


def test_a_clean_host() -> None:
    raw = Raw({meminfo.PATH: spark(110, 116, 3), swap.SWAPS: SWAPS, pressure.PATH: "full avg10=0 avg60=0.00 total=0"})
    assert {check.status for check in memory.checks(raw, WANT)} == {"pass"}
    assert checks(raw, WANT)["utilization"].found == "at most 0.96 fits"


def test_u01_page_cache_is_not_out_of_memory() -> None:
    check = look(U01)["need"]
    assert (check.status, check.found) == ("warn", "39.3 GiB free, 99.1 GiB available")
    assert check.wanted == "85.2 GiB free"  # 89320000 kB
    assert "Drop caches first" in check.remedy and "host_drop_caches" in check.remedy


@pytest.mark.parametrize(
    ("text", "want", "status"),
    [
        (spark(100, 110), WANT, "pass"),
        (spark(50, 80), WANT, "fail"),
        (spark(50, 87), replace(WANT, memory_floor=4 * GIB), "fail"),
        (spark(50, 89), replace(WANT, memory_floor=4 * GIB), "warn"),
        (spark(10, 20), replace(WANT, shares_back=(0.7,)), "pass"),
        (spark(10, 20), replace(WANT, shares_back=(0.3, 0.1)), "fail"),
        (spark(10, 20), replace(WANT, shares_back=(0.7, None)), "pass"),
        (spark(10, 20), replace(WANT, shares_back=(None,)), "skip"),
        (spark(10, 20), replace(WANT, settled=True), "pass"),
        (spark(10, 20), Want(), "skip"),
        ("", WANT, "skip"),
    ],
)
def test_need(text: str, want: Want, status: str) -> None:
    assert look(text, want)["need"].status == status


def test_need_says_what_fits() -> None:
    check = look(spark(50, 80), replace(WANT, memory_floor=4 * GIB))["need"]
    assert check.wanted == "88.0 GiB of 120.0 GiB: 0.7 for the engine, 4.0 GiB kept"
    assert check.remedy.endswith("set a smaller serving_gpu_memory_utilization, at most 0.63")
    # The cause is named once.
    assert look(spark(50, 80))["utilization"].status == "skip"


@pytest.mark.parametrize(
    ("text", "want", "status"),
    [
        (spark(60, 65, 5), WANT, "warn"),
        (spark(60, 109, 5), WANT, "pass"),
        (spark(60, 65, 50), WANT, "pass"),
        (spark(60, 65, 5), replace(WANT, shares_back=(0.4,)), "skip"),
        (spark(60, 65, 5), replace(WANT, settled=True), "skip"),
        ("MemTotal: 100 kB\nMemAvailable: 1 kB\n", WANT, "skip"),
    ],
)
def test_leftover(text: str, want: Want, status: str) -> None:
    assert look(text, want)["leftover"].status == status


def test_leftover_is_no_zram_and_no_stranger_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    zram = SWAPS + f"/dev/zram0 partition {50 * GIB // 1024} {45 * GIB // 1024} 100\n"
    raw = Raw({meminfo.PATH: spark(60, 65, 5), swap.SWAPS: zram})
    assert checks(raw, WANT)["leftover"].status == "pass"
    monkeypatch.setattr(nvidia_smi, "processes", lambda raw: ["a process"])
    assert look(spark(60, 65, 5))["leftover"].status == "skip"


@pytest.mark.parametrize(("share", "status"), [(0.85, "pass"), (0.9, "warn"), (None, "pass")])
def test_utilization(share: float | None, status: str) -> None:
    assert look(spark(110, 116), replace(WANT, memory_share=share))["utilization"].status == status


def test_swap_that_is_on() -> None:
    raw = Raw({meminfo.PATH: U01, swap.SWAPS: SWAPS + "/swap.img file 8388604 1048576 -2\n"})
    check = checks(raw, WANT)["swap"]
    assert (check.status, check.found, check.wanted) == ("warn", "/swap.img 8.0 GiB (1.0 GiB used)", "off")
    assert "prepare" in check.remedy


def test_p11_what_brings_swap_back() -> None:
    units = "dev-zram0.swap loaded active active\nsystemd-zram-setup@zram0.service loaded active exited\n"
    raw = Raw(
        {swap.SWAPS: SWAPS, "/etc/fstab": "#\n/swap.img none swap sw\n/dev/sdb none swap noauto\n"},
        outputs={swap.LISTED: Output(0, units)},
    )
    found = checks(raw, WANT)
    assert found["swap"].status == "pass"
    assert found["swap_returns"].status == "warn"
    assert found["swap_returns"].found == (
        "/swap.img (/etc/fstab line 2), dev-zram0.swap (active), systemd-zram-setup@zram0.service (active)"
    )


@pytest.mark.parametrize(("percent", "status"), [(9.9, "pass"), (10.0, "warn"), (None, "skip")])
def test_pressure(percent: float | None, status: str) -> None:
    text = "" if percent is None else f"some avg60=99.00\nfull avg10=0.00 avg60={percent} avg300=0.00 total=1\n"
    assert checks(Raw({pressure.PATH: text}), WANT)["pressure"].status == status


def test_u10_facts_of_the_host() -> None:
    text = "MemTotal: 127600000 kB\nMemAvailable: 78700000 kB\nMemFree: 40000000 kB\nCached: 30000000 kB\n"
    facts = memory.facts(Raw({meminfo.PATH: text}), WANT)
    assert facts["used"] == 48900000 * 1024  # 46.6 GiB
    assert (facts["free"], facts["cache"]) == (40000000 * 1024, 30000000 * 1024)
    assert memory.facts(Raw(), WANT) == {"swap": [], "swap_returns": []}
