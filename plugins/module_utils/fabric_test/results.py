# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the jobs of a measurement printed to its result: plain data for verdict, table and JSON file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import iperf3, nccl, perftest
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.orders import (
    ALL_GATHER,
    RDMA_BANDWIDTH,
    RDMA_LATENCY,
    TCP,
)

UNITS = {TCP: "Gb/s", RDMA_BANDWIDTH: "Gb/s", RDMA_LATENCY: "us", ALL_GATHER: "GB/s"}
NAMES = {
    TCP: "TCP (iperf3)",
    RDMA_BANDWIDTH: "RDMA (ib_write_bw)",
    RDMA_LATENCY: "RDMA latency (ib_write_lat)",
    ALL_GATHER: "all-gather",
}


def empty(pair: str, measurement: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a measurement that gave none yet.

    ``value`` is in UNITS of its kind; ``moved`` in bytes by interface and RDMA device of the client; ``failed`` and
    ``skipped`` are reasons in words.
    """
    return {
        "pair": pair,
        "kind": measurement["kind"],
        "over": list(measurement["over"]),
        "settings": measurement.get("settings", ""),
        "value": None,
        "unit": UNITS[measurement["kind"]],
        "retransmits": None,
        "congestion": "",
        "network": "",
        "sockets": False,
        "transport": measurement.get("transport", ""),
        "environment": dict(measurement.get("environment", {})),
        "moved": {},
        "skipped": measurement["skipped"],
        "remedy": measurement["remedy"],
        "failed": "",
    }


def read(
    pair: str, measurement: Mapping[str, Any], ended: Sequence[Mapping[str, Any]], moved: Mapping[str, int]
) -> dict[str, Any]:
    """The result of a measurement whose jobs have ended.

    :param ended: of each job ``code``, ``out`` and ``err``
    :param moved: what the counters say
    """
    result = {**empty(pair, measurement), "moved": dict(moved)}
    try:
        return {**result, **_READERS[measurement["kind"]](ended)}
    except ValueError as error:
        return {**result, **_missing(measurement["kind"], str(error)), **_log(measurement["kind"], ended)}


def _missing(kind: str, words: str) -> dict[str, Any]:
    """An image that cannot be measured with is no fault of the fabric."""
    if kind == ALL_GATHER and "No module named 'torch'" in words:
        return {"skipped": "the image has no torch", "remedy": "give -e fabric_test_image with the image of an engine"}
    return {"failed": words}


def _tcp(ended: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = [iperf3.parse(job["out"] or job["err"]) for job in ended]
    counted = [one.retransmits for one in found if one.retransmits is not None]
    return {
        "value": sum(one.gbits for one in found),
        "retransmits": sum(counted) if counted else None,
        "congestion": found[0].congestion,
    }


def _bandwidth(ended: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"value": sum(perftest.bandwidth(job["out"] + job["err"]) for job in ended)}


def _latency(ended: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"value": min(perftest.latency(job["out"] + job["err"]) for job in ended)}


def _all_gather(ended: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    text = "\n".join(job["out"] + job["err"] for job in ended)
    return {"value": nccl.best(text).busbw, **_log(ALL_GATHER, ended)}


def _log(kind: str, ended: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if kind != ALL_GATHER:
        return {}
    text = "\n".join(job["out"] + job["err"] for job in ended)
    return {"network": nccl.network(text), "sockets": nccl.is_sockets(text)}


_READERS = {TCP: _tcp, RDMA_BANDWIDTH: _bandwidth, RDMA_LATENCY: _latency, ALL_GATHER: _all_gather}


def shown(result: Mapping[str, Any]) -> str:
    """A result in a few words: the figure with its unit, or why there is none."""
    if result["skipped"]:
        return f"skipped: {result['skipped']}"
    if result["failed"]:
        return f"failed: {result['failed']}"
    words = [f"{result['value']:.2f} {result['unit']}"]
    if result["kind"] == ALL_GATHER:
        words[0] += f" ({result['value'] * 8:.0f} Gb/s)"
    if result["retransmits"] is not None:
        words.append(f"{result['retransmits']} resent")
    if result["congestion"]:
        words.append(result["congestion"])
    if result["network"]:
        words.append(f"by {result['network']}")
    return ", ".join(words)


def title(result: Mapping[str, Any]) -> str:
    """What was measured, for the table and for progress."""
    name = NAMES[result["kind"]]
    return f"{name}, {result['settings']}" if result["settings"] else name
