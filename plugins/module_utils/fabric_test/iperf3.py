# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``iperf3 --json`` measured."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Tcp:
    """A TCP measurement.

    :ivar gbits: what arrived, in Gb/s
    :ivar retransmits: segments that were sent again; None where the system does not count them
    :ivar congestion: congestion control of the sender
    """

    gbits: float
    retransmits: int | None
    congestion: str


def parse(text: str) -> Tcp:
    """Read the answer of an iperf3 client of any 3.x.

    :raises ValueError: with iperf3's own words, or that there was no answer
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(" ".join(text.split())[-200:] or "iperf3 said nothing") from error
    if not isinstance(document, dict):
        raise ValueError("iperf3 did not answer with its report")
    if document.get("error"):
        raise ValueError(str(document["error"]))
    end = document.get("end") or {}
    received = end.get("sum_received") or end.get("sum") or {}
    if "bits_per_second" not in received:
        raise ValueError("iperf3's report has no total: it was cut off")
    retransmits = (end.get("sum_sent") or {}).get("retransmits")
    return Tcp(
        gbits=float(received["bits_per_second"]) / 1e9,
        retransmits=None if retransmits is None else int(retransmits),
        congestion=str(end.get("sender_tcp_congestion", "")),
    )
