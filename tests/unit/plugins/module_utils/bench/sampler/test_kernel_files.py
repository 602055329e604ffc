# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the files that are opened once."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.kernel_files import KernelFiles

NET = "head\nhead\n  eth0: {} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n"


def write(root: Path, path: str, text: str) -> None:
    """Write in place, as the kernel's files change."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="ascii")


def test_a_host_with_rdma(tmp_path: Path) -> None:
    write(tmp_path, "proc/meminfo", "MemTotal: 8 kB\nMemAvailable: 4 kB\n")
    write(tmp_path, "proc/net/dev", NET.format(1, 2))
    write(tmp_path, "proc/pressure/memory", "full avg10=3.50 avg60=0.00 avg300=0.00 total=9\n")
    counters = "sys/class/infiniband/rocep1s0f0/ports/1/counters"
    write(tmp_path, f"{counters}/port_rcv_data", "1000\n")
    write(tmp_path, f"{counters}/port_xmit_data", "500\n")
    # No permission to read one of both is no half of a figure.
    write(tmp_path, "sys/class/infiniband/mlx5_9/ports/1/counters/port_rcv_data", "7\n")
    files = KernelFiles(tmp_path)
    first = files.sample()
    assert first["mem"] == {"total": 8192, "available": 4096, "cached": None, "swap_used": None}
    assert first["psi"] == {"memory_some": None, "memory_full": 3.5, "cpu_some": None, "io_some": None}
    assert first["net"] == {"eth0": {"rx": 1, "tx": 2}}
    assert first["rdma"] == {"rocep1s0f0": {"rx": 4000, "tx": 2000}}
    write(tmp_path, "proc/net/dev", NET.format(5, 6))
    write(tmp_path, f"{counters}/port_xmit_data", "501\n")
    second = files.sample()
    assert second["net"] == {"eth0": {"rx": 5, "tx": 6}}
    assert second["rdma"] == {"rocep1s0f0": {"rx": 4000, "tx": 2004}}
    files.close()


def test_a_host_that_says_nothing(tmp_path: Path) -> None:
    found = KernelFiles(tmp_path).sample()
    assert (found["net"], found["rdma"]) == ({}, {})
    assert {*found["mem"].values(), *found["psi"].values()} == {None}


def test_this_machine_and_no_file_stays_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    files = KernelFiles(Path("/"))
    found = files.sample()
    assert found["mem"]["total"] > found["mem"]["available"] > 0
    files.close()
    assert len(os.listdir("/proc/self/fd")) == before
