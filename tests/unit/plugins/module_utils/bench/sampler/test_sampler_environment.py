# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of what sort of machine a host is, from captured text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import environment
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import machine, nvidia_smi
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, Output, Raw

FIXTURES = Path(__file__).parents[5] / "fixtures/host"
CHRONY = "C0A80101,192.168.1.1,3,1764493200.1,-0.000123456,0.00001,0.00002,1.0,0.0,0.01,0.02,0.001,64.5,Normal"
TIMESYNC = """\
       Server: 185.125.190.56 (ntp.ubuntu.com)
Poll interval: 34min 8s (min: 32s; max 34min 8s)
       Offset: {}
        Delay: 24.513ms
"""


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def test_a_dgx_spark() -> None:
    files = {
        machine.OS_RELEASE: fixture("os-release-ubuntu-24.04"),
        machine.DGX_RELEASE: fixture("dgx-release-spark"),
        environment.KERNEL: "6.11.0-1016-nvidia\n",
        "/proc/meminfo": "MemTotal: 125512704 kB\nSwapTotal: 16777212 kB\n",
        environment.GOVERNOR: "performance\n",
        environment.CPU_MAX: "3900000\n",
        environment.PROFILE: "balanced\n",
        "/sys/class/net/enp1s0f0np0/speed": "200000\n",
        "/sys/class/net/enp1s0f0np0/mtu": "9000\n",
        "/sys/class/net/wlP9s9/mtu": "1500\n",
        "/sys/class/net/lo/mtu": "65536\n",
        "/sys/class/net/docker0/mtu": "1500\n",
    }
    outputs = {
        "gpu": Output(0, "580.95.05, 3003, Enabled\n"),
        "gpu_table": Output(0, "| NVIDIA-SMI 580.95.05  Driver Version: 580.95.05  CUDA Version: 13.0     |\n"),
        "chrony": Output(0, f"{CHRONY}\n"),
    }
    found = environment.read(Raw(files, {}, outputs), "3.12.3", 20, 4096)
    assert found == {
        "os": "DGX OS 7.5.0 (Ubuntu 24.04.3 LTS)",
        "kernel": "6.11.0-1016-nvidia",
        "driver": "580.95.05",
        "cuda": "13.0",
        "python": "3.12.3",
        "power_mode": "balanced",
        "clocks": {
            "gpu_sm_max_mhz": 3003.0,
            "gpu_persistence": "Enabled",
            "cpu_max_mhz": 3900,
            "cpu_governor": "performance",
        },
        "mem_total": 125512704 * 1024,
        "page_size": 4096,
        "swap": 16777212 * 1024,
        "cpus": 20,
        "nic": [
            {"name": "enp1s0f0np0", "speed_mbps": 200000, "mtu": 9000},
            {"name": "wlP9s9", "speed_mbps": None, "mtu": 1500},
        ],
        "time_offset_ms": -0.123,
    }


def test_a_host_that_says_nothing() -> None:
    found = environment.read(Raw(), "3.10.12", None, 65536)
    assert found.pop("nic") == []
    assert set(found.pop("clocks").values()) == {None}
    assert (found.pop("python"), found.pop("page_size")) == ("3.10.12", 65536)
    assert set(found.values()) == {None}


@pytest.mark.parametrize("output", [Output(LATE), Output(255, "Failed to initialize NVML: Unknown Error"), Output(0)])
def test_p04_the_module_that_is_loaded_says_the_driver_when_nvidia_smi_does_not(output: Output) -> None:
    raw = Raw({nvidia_smi.MODULE_VERSION: fixture("nvidia-driver-version-580.142")}, {}, {"gpu": output})
    found = environment.read(raw, "3.12.3", 20, 4096)
    assert (found["driver"], found["cuda"], found["clocks"]["gpu_sm_max_mhz"]) == ("580.142", None, None)


@pytest.mark.parametrize(
    ("text", "offset"),
    [("+1.035ms", 1.035), ("-20us", -0.02), ("+2.5s", 2500.0), ("n/a", None), ("", None)],
)
def test_the_clock_offset_of_systemd(text: str, offset: float | None) -> None:
    raw = Raw({}, {}, {"timesync": Output(0, TIMESYNC.format(text))})
    assert environment.read(raw, "3.12.3", 20, 4096)["time_offset_ms"] == offset


def test_a_chrony_that_talks_otherwise_is_no_figure() -> None:
    raw = Raw({}, {}, {"chrony": Output(0, ",".join("x" * 14))})
    assert environment.read(raw, "3.12.3", 20, 4096)["time_offset_ms"] is None
