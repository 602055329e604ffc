# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of what the kernel's files and nvidia-smi's lines become in a sample."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import parse

MEMINFO = """\
MemTotal:       125512704 kB
MemFree:         9123456 kB
MemAvailable:   60123456 kB
Cached:         50000000 kB
SwapTotal:      16777212 kB
SwapFree:       16000000 kB
HugePages_Total:       0
"""
PRESSURE = """\
some avg10=1.25 avg60=0.00 avg300=0.00 total=60
full avg10=0.50 avg60=0.00 avg300=0.00 total=13
"""
NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:   32071     337    0    0    0     0          0         0    32071     337    0    0    0     0       0          0
enP2p1s0f0np0: 7490927  113057    0    0    0     0          0         0 19239048994  414839    0    0    0     0       0          0
enp1s0f0np0:48454822  733797    0    0    0     0          0         0 98619119126 2139002    0    0    0     0       0          0
docker0:       0       0    0    0    0     0          0         0        0       0    0    2    0     0       0          0
vethd0a1@if3:  9       9    0    0    0     0          0         0        9       9    0    0    0     0       0          0
eth0.7: 5       1    0    0    0     0          0         0        6       1    0    0    0     0       0          0
"""  # noqa: E501
NOTHING = dict.fromkeys(("util_pct", "power_w", "temp_c", "clock_mhz", "memory_clock_mhz", "throttle"))


def test_memory_in_bytes() -> None:
    assert parse.memory(MEMINFO) == {
        "total": 125512704 * 1024,
        "available": 60123456 * 1024,
        "cached": 50000000 * 1024,
        "swap_used": 777212 * 1024,
    }


def test_memory_that_is_not_said_is_null_and_not_zero() -> None:
    assert parse.memory("") == {"total": None, "available": None, "cached": None, "swap_used": None}
    assert parse.memory("SwapTotal: 0 kB\nSwapFree: 0 kB\n")["swap_used"] == 0


def test_pressures() -> None:
    cpu = "some avg10=42.00 avg60=1.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    assert parse.pressures({"memory": PRESSURE, "cpu": cpu, "io": ""}) == {
        "memory_some": 1.25,
        "memory_full": 0.5,
        "cpu_some": 42.0,
        "io_some": None,
    }
    assert set(parse.pressures({}).values()) == {None}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("96, 61.20, 74, 2411, 8001", dict(zip(NOTHING, (96.0, 61.2, 74.0, 2411.0, 8001.0, None), strict=True))),
        ("0, 4.52, 41, 208, [N/A]", dict(zip(NOTHING, (0.0, 4.52, 41.0, 208.0, None, None), strict=True))),
        (
            "96, 61.20, 74, 2411, [N/A], 0x0000000000000060",
            {**NOTHING, "util_pct": 96.0, "power_w": 61.2, "temp_c": 74.0, "clock_mhz": 2411.0}
            | {"throttle": ["sw_thermal_slowdown", "hw_thermal_slowdown"]},
        ),
        (
            "96, [N/A], 74, 2411, [N/A], [N/A]",
            {**NOTHING, "util_pct": 96.0, "temp_c": 74.0, "clock_mhz": 2411.0},
        ),
        ("[Not Supported], [N/A], [Unknown Error], [GPU requires reset], N/A", NOTHING),
        ("Unable to determine the device handle for GPU0: 000F:01:00.0: Unknown Error", NOTHING),
        ("96, 61.20, 74, 2411", NOTHING),
        ("", NOTHING),
    ],
)
def test_p01_what_a_gpu_does_not_say_is_null(line: str, found: dict[str, Any]) -> None:
    assert parse.gpu(line) == found


def test_interfaces_that_carry_data_between_hosts() -> None:
    assert parse.interfaces(NET_DEV) == {
        "enP2p1s0f0np0": {"rx": 7490927, "tx": 19239048994},
        "enp1s0f0np0": {"rx": 48454822, "tx": 98619119126},
        "eth0.7": {"rx": 5, "tx": 6},
    }
    assert parse.interfaces("nonsense: 1 2\n") == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "0::/system.slice/docker-4f2a.scope\n",
            {"cpu": ["system.slice/docker-4f2a.scope"], "memory": ["system.slice/docker-4f2a.scope"]},
        ),
        (
            "5:cpu,cpuacct:/docker/4f2a\n4:memory:/docker/4f2a\n1:cpu:/docker/4f2a\n0::/docker/4f2a\n",
            {"cpu": ["docker/4f2a", "cpu,cpuacct/docker/4f2a"], "memory": ["docker/4f2a", "memory/docker/4f2a"]},
        ),
        ("1:name=systemd:/x\n", {"cpu": [], "memory": []}),
        ("", {"cpu": [], "memory": []}),
    ],
)
def test_where_a_control_group_keeps_its_figures(text: str, found: dict[str, list[str]]) -> None:
    assert parse.groups(text) == found


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("usage_usec 12345678\nuser_usec 1\nsystem_usec 2\n", 12.346),
        ("12345678901\n", 12.346),
        ("", None),
        ("user_usec 1\n", None),
    ],
)
def test_cpu_seconds_of_a_control_group(text: str, seconds: float | None) -> None:
    assert parse.cpu_seconds(text) == seconds


@pytest.mark.parametrize(
    ("current", "stat", "held"),
    [
        ("1000\n", "anon 5\ninactive_file 300\nactive_file 7\n", 700),
        ("1000\n", "inactive_file 1\ntotal_inactive_file 400\n", 600),
        ("1000\n", "", 1000),
        ("10\n", "inactive_file 300\n", 0),
        ("", "inactive_file 300\n", None),
    ],
)
def test_copies_of_files_that_nobody_uses_are_not_held(current: str, stat: str, held: int | None) -> None:
    assert parse.group_memory(current, stat) == held
