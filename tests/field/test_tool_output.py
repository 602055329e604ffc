# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 1: output of tools. Input and expectation are those of the fault's row."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import gpu, memory
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab, ip_json, netdev, nvidia_smi, rdma
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw
from tests.field.looked import answer, captured

P01_FIELDS = ("index", "name", "memory.total", "memory.used", "utilization.gpu")
P01 = "0, NVIDIA GB10, [N/A], [N/A], 3\n"


def test_p01_a_gpu_without_figures_of_memory_is_visible() -> None:
    [row] = nvidia_smi.read_gpus(P01, P01_FIELDS)
    assert (row.name, row.memory_total, row.memory_used, row.utilization) == ("NVIDIA GB10", None, None, 3)
    raw = captured(nvidia_smi="0, NVIDIA GB10, 580.95.05, 3, 208, [N/A], [N/A]\n")
    check = answer(gpu, "gpu.visible", raw)
    assert (check.status, check.found) == ("pass", "NVIDIA GB10")
    assert "/proc/meminfo" in check.detail


def test_p02_memory_of_a_process_is_a_figure_or_none_and_no_process_is_no_error() -> None:
    runs = ("4242, /usr/bin/python3, 19135\n", "4242, /usr/bin/python3, [N/A]\n", "")
    assert [[process.memory for process in nvidia_smi.read_processes(run)] for run in runs] == [[19135], [None], []]
    rows = "0, NVIDIA GB10, 580.95.05, 3, 208, [N/A], [N/A]\n"
    shown = [
        answer(gpu, "gpu.processes", captured(nvidia_smi=rows, nvidia_smi_processes=run, our_pids="")) for run in runs
    ]
    assert [check.status for check in shown] == ["warn", "warn", "pass"]
    assert [check.found for check in shown[:2]] == [
        "python3 (process 4242, 19135 MiB)",
        "python3 (process 4242, memory unknown)",
    ]


P04 = """\
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 580.142
"""


def test_p04_a_sentence_on_stdout_is_no_gpu_and_asks_for_a_reboot() -> None:
    assert nvidia_smi.read_gpus(P04) == []
    raw = Raw(outputs={"nvidia_smi": Output(18, P04)})
    driver = answer(gpu, "gpu.driver", raw)
    assert (driver.status, driver.remedy.rstrip(".")) == ("fail", "Reboot")
    assert driver.found == "driver and library differ"
    assert answer(gpu, "gpu.visible", raw).status == "skip"
    assert gpu.facts(raw, Want())["name"] == ""


P05 = """\
rocep1s0f0 port 1 ==> enp1s0f0np0 (Up)
rocep1s0f1 port 1 ==> enp1s0f1np1 (Up)
roceP2p1s0f0 port 1 ==> enP2p1s0f0np0 (Up)
roceP2p1s0f1 port 1 ==> enP2p1s0f1np1 (Up)
"""


def test_p05_only_the_chosen_interface_and_its_twin_carry_data() -> None:
    found = rdma.devices(captured(ibdev2netdev=P05))
    assert len(found) == 4
    ports = netdev.ports(captured(), [device.netdev for device in found.values()])
    assert rdma.hcas_for("enp1s0f0np0", found, ports) == ["rocep1s0f0", "roceP2p1s0f0"]
    assert rdma.hcas_for("enP2p1s0f1np1", found, ports) == ["roceP2p1s0f1", "rocep1s0f1"]


P07 = {"enp1s0f0np0": "0000:01:00.0", "enP2p1s0f0np0": "0002:01:00.0", "enp1s0f1np1": "0000:01:00.1"}


@pytest.mark.parametrize("port_names", [{}, {"enp1s0f0np0": "p0", "enP2p1s0f0np0": "p0", "enp1s0f1np1": "p1"}])
def test_p07_halves_are_grouped_by_port_and_not_by_pci_domain(port_names: dict[str, str]) -> None:
    files = {f"/sys/class/net/{name}/phys_port_name": f"{port}\n" for name, port in port_names.items()}
    links = {f"/sys/class/net/{name}/device": f"/sys/devices/pci/{pci}" for name, pci in P07.items()}
    assert netdev.ports(captured(files, links), P07) == {"0": ["enp1s0f0np0", "enP2p1s0f0np0"], "1": ["enp1s0f1np1"]}


P08 = '[{"dst":"192.0.2.12","lladdr":"02:00:00:00:00:12","state":["STALE"]}]'


def test_p08_a_neighbour_without_dev_is_on_the_interface_that_was_asked_for() -> None:
    [peer] = ip_json.neighbours(P08, interface="enp1s0f0np0")
    assert (peer.address, peer.interface, peer.reachable) == ("192.0.2.12", "enp1s0f0np0", True)
    # No key is needed.
    assert [row.reachable for row in ip_json.neighbours('[{"dst":"192.0.2.12"}, {}]', "enp1s0f0np0")] == [False]
    assert list(ip_json.interfaces('[{"ifname": "lo"}, {}]')) == ["lo"]


P10 = """\
# swap was on /dev/nvme0n1p3 during installation
/swap.img\tnone\tswap\tsw
#/old.img none swap sw 0 0
UUID=1111-2222 /mnt/swap\\040data ext4 defaults 0 2
"""


def test_p10_fstab_is_read_by_its_fields_and_only_line_2_goes() -> None:
    before, after = P10.splitlines(), fstab.commented(P10).splitlines()
    assert [number for number, (one, other) in enumerate(zip(before, after, strict=True), 1) if one != other] == [2]
    assert after[1] == f"{fstab.PREFIX}{before[1]}"
    again = fstab.commented(fstab.commented(P10))
    assert again == fstab.commented(P10)
    assert fstab.restored(again) == P10
    check = answer(memory, "memory.swap_returns", captured({"/etc/fstab": P10}))
    assert (check.status, check.found) == ("warn", "/swap.img (/etc/fstab line 2)")


def test_p11_zram_that_brings_swap_back_is_named_although_fstab_has_none() -> None:
    swaps = "Filename Type Size Used Priority\n/dev/zram0 partition 8388604 0 100\n"
    units = """\
dev-zram0.swap loaded active active Compressed Swap on /dev/zram0
systemd-zram-setup@zram0.service loaded active exited Create swap on /dev/zram0
"""
    raw = captured({"/proc/swaps": swaps, "/etc/fstab": "/dev/nvme0n1p2 / ext4 defaults 0 1\n"}, swap_units=units)
    assert answer(memory, "memory.swap", raw).found.startswith("/dev/zram0 8.0 GiB")
    check = answer(memory, "memory.swap_returns", raw)
    assert check.status == "warn"
    assert "dev-zram0.swap" in check.found
    assert "systemd-zram-setup@zram0.service" in check.found


P12 = """\
/swap.img none swap sw 0 0
/dev/nvme1n1p2 none swap sw,noauto 0 0
"""


def test_p12_rows_are_told_apart_by_their_device() -> None:
    first, second = P12.splitlines()
    assert fstab.commented(P12, {"/swap.img"}).splitlines() == [f"{fstab.PREFIX}{first}", second]
    # One that is kept on purpose stays, also when all go that are switched on at boot.
    assert fstab.commented(P12).splitlines()[1] == second
