# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host says before a test, and what runs inside the engine's image."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import host, in_engine, nccl
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.all_gather import source
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw


def test_a_spark() -> None:
    files = {
        "/sys/class/net/enp1s0f0np0/speed": "200000\n",
        "/sys/class/net/enp1s0f0np0/mtu": "9000\n",
        "/sys/class/net/enp1s0f0np0/operstate": "up\n",
        "/proc/meminfo": "MemTotal: 100 kB\nMemAvailable: 50 kB\n",
    }
    links = {f"/sys/class/infiniband/{name}": "/sys/devices/x" for name in ("rocep1s0f0", "roceP2p1s0f0")}
    outputs = {"engines": Output(0, "dgxspark-a-0-r0\n"), "image": Output(0, "arm64\n")}
    wanted = host.sources(["enp1s0f0np0"], "image:1")
    assert set(files) <= set(wanted.files)
    assert set(outputs) == set(wanted.commands)
    assert host.read(Raw(files, links, outputs), ["enp1s0f0np0"], ["iperf3"]) == {
        "tools": ["iperf3"],
        "links": {"enp1s0f0np0": {"speed": 200000, "mtu": 9000, "state": "up"}},
        "rdma_devices": ["roceP2p1s0f0", "rocep1s0f0"],
        "engines": ["dgxspark-a-0-r0"],
        "image": True,
        "memory_available": 51200,
    }


@pytest.mark.parametrize("speed", ["-1", "", "Unknown"])
def test_a_host_that_says_nothing(speed: str) -> None:
    said = host.read(Raw(files={"/sys/class/net/x/speed": speed}), ["x"], [])
    assert said["links"] == {"x": {"speed": 0, "mtu": 0, "state": ""}}
    assert (said["rdma_devices"], said["engines"], said["image"], said["memory_available"]) == ([], [], False, 0)


def test_the_script_prints_the_table_of_nccl_tests() -> None:
    # The figures of dgx-spark-playbooks#25.
    line = in_engine.row(17179869184, 2147483648, 0.45365, 2, 0)
    assert line.split() == ["17179869184", "2147483648", "float", "none", "-1", "453650.0", "37.87", "18.94", "0"]
    (row,) = nccl.rows(f"{in_engine.HEADER}\n{line}\n")
    assert (row.size, row.busbw, row.wrong) == (17179869184, 18.94, False)


def test_wrong_data_is_in_the_table() -> None:
    (row,) = nccl.rows(in_engine.row(1024, 128, 0.001, 2, 5))
    assert row.wrong


def test_no_gpu_in_the_container(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    no_gpu = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(in_engine.sys.modules, "torch", no_gpu)
    alarms: list[int] = []
    monkeypatch.setattr(in_engine.signal, "alarm", alarms.append)
    assert in_engine.main({"backend": "nccl", "limit": 240}) == 3
    assert alarms == [240]
    assert "no GPU" in capsys.readouterr().out


def test_the_source_is_what_runs_in_the_image() -> None:
    compile(source(), "in_engine", "exec")
    assert "all_gather_into_tensor" in source()
    assert "ansible" not in source()
