# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a good DGX Spark link moves: public figures and their sources. The one place where they stand."""

from __future__ import annotations

from dataclasses import dataclass

# What both ends of a QSFP link of a DGX Spark say, on each twin, in Mb/s.
QSFP_MBITS = 200_000
JUMBO = 9000
# NVIDIA's pass mark for an all-gather of two hosts: 175 Gb/s, in GB/s of bus bandwidth.
PASS_GBITS = 175.0
PASS_BUSBW = PASS_GBITS / 8
# A link that was initialised badly moves this much at most, whatever speed it says; in Gb/s.
DEGRADED_GBITS = 25.0
# One twin has a PCIe link of about 100 Gb/s: both at once must move more than this share of the better one.
TWINS_GAIN = 1.15
# One of two that moves less than this share of the other is not like it.
UNEVEN = 0.5
# With TCP alone both twins have moved this much, in Gb/s.
TCP_BOTH_GBITS = 160.0
# Bus bandwidth in GB/s: one twin by RDMA; sockets.
ONE_TWIN_BUSBW = 14.0
SOCKETS_BUSBW = 5.0


@dataclass(frozen=True)
class Figure:
    """What is good for one kind of measurement.

    :ivar one: over one twin
    :ivar both: over both twins
    :ivar source: who has measured it
    """

    one: str
    both: str
    source: str


_GUIDE = "NVIDIA/dgx-spark-playbooks"
GOOD = {
    "tcp": Figure("96-110 Gb/s", "160-198 Gb/s", f"{_GUIDE}#108, catharsis.net.au: From 96 to 340 Gbit/s"),
    "rdma_bandwidth": Figure("92-112 Gb/s", "175 Gb/s or more", f"{_GUIDE}#108, eugr/spark-vllm-docker NETWORKING.md"),
    "rdma_latency": Figure("about 1.5 us", "", "eugr/spark-vllm-docker NETWORKING.md"),
    "all_gather": Figure("10-13 GB/s", "21.9-24.4 GB/s", f"{_GUIDE}#25, {_GUIDE}#102; pass mark 175 Gb/s: NVIDIA"),
}
