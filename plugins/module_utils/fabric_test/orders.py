# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What both hosts of a pair run: servers on one, measurements on the other. Commands only; nothing is run here.

A job is ``name``, ``argv``, ``limit`` in seconds, and either ``address``, at which the host finds it a free port, or
``port_of``, the server's job whose port it uses. ``PORT`` in argv stands for that port. One with ``listens`` is a TCP
server that is waited for. A measurement has ``kind``,
``over`` (interfaces or RDMA devices), ``jobs`` that run at the same time, or ``skipped`` and ``remedy``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.host import is_up
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.pairs import Pair, SharedLink, address

PORT = "@PORT@"
# Seconds that iperf3 leaves out of its figure, for TCP to come up to speed.
WARM_UP = 1
# Seconds for a client to connect and to report, beside the measurement.
SLACK = 15
QUEUE_PAIRS = 4
INSTALL = "install it on both hosts, or give -e fabric_test_install=true"

TCP = "tcp"
RDMA_BANDWIDTH = "rdma_bandwidth"
RDMA_LATENCY = "rdma_latency"
ALL_GATHER = "all_gather"


@dataclass(frozen=True)
class Part:
    """What one pair runs in one step."""

    servers: list[dict[str, Any]]
    measurements: list[dict[str, Any]]

    def limited(self, extra: float) -> Part:
        """The same, with servers that wait for all measurements before theirs and not for ever.

        :param extra: seconds beside the measurements
        """
        total = sum(max((job["limit"] for job in one["jobs"]), default=0) for one in self.measurements) + extra
        return Part([{**job, "limit": total} for job in self.servers], self.measurements)


def tools(pair: Pair, looks: Mapping[str, Mapping[str, Any]], seconds: int, streams: int) -> Part:
    """TCP and RDMA over each link alone and over all at once.

    :param looks: what :func:`host.read` says of each host
    :param seconds: length of one measurement
    :param streams: TCP connections of one measurement
    """
    servers: list[dict[str, Any]] = []
    measurements = []
    choices = [(link,) for link in pair.links] + ([pair.links] if len(pair.links) > 1 else [])
    for kind, subjects in (
        (TCP, choices),
        (RDMA_BANDWIDTH, choices),
        (RDMA_LATENCY, [(link,) for link in pair.links]),
    ):
        for links in subjects:
            measurement, own = _measurement(kind, pair, links, looks, seconds, streams)
            measurements.append(measurement)
            servers += own
    return Part(servers, measurements).limited(extra=60)


def tcp(pair: Pair, looks: Mapping[str, Mapping[str, Any]], seconds: int, streams: int, settings: str) -> Part:
    """TCP over each link alone, for a comparison of kernel settings.

    :param settings: how the report calls the settings in force
    """
    servers: list[dict[str, Any]] = []
    measurements = []
    for link in pair.links:
        measurement, own = _measurement(TCP, pair, [link], looks, seconds, streams)
        measurements.append({**measurement, "settings": settings})
        servers += own
    return Part(servers, measurements).limited(extra=30)


def _measurement(
    kind: str,
    pair: Pair,
    links: Sequence[SharedLink],
    looks: Mapping[str, Mapping[str, Any]],
    seconds: int,
    streams: int,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    over = [link.client["interface" if kind == TCP else "rdma_device"] or link.client["interface"] for link in links]
    skipped, remedy = _lacking(kind, pair, links, looks)
    if skipped:
        return {"kind": kind, "over": over, "jobs": [], "skipped": skipped, "remedy": remedy}, []
    servers, jobs = [], []
    for link in links:
        name = "-".join([kind, *over, link.client["interface"]])
        server, client = _argv(kind, link, seconds, streams)
        servers.append({"name": name, "argv": server, "address": address(link.server), "listens": kind == TCP})
        jobs.append({"name": f"{name}-client", "argv": client, "port_of": name, "limit": seconds + WARM_UP + SLACK})
    return {"kind": kind, "over": over, "jobs": jobs, "skipped": "", "remedy": ""}, servers


def _argv(kind: str, link: SharedLink, seconds: int, streams: int) -> tuple[list[str], list[str]]:
    """The command lines of server and client."""
    own, peer = address(link.client), address(link.server)
    if kind == TCP:
        length = ["--time", str(seconds), "--omit", str(WARM_UP), "--parallel", str(streams)]
        return (
            ["iperf3", "--server", "--one-off", "--bind", peer, "--port", PORT],
            ["iperf3", "--client", peer, "--bind", own, "--port", PORT, *length, "--json", "--connect-timeout", "5000"],
        )
    # With -R the RDMA connection manager takes the GID that belongs to the address: no index has to be known. Those who
    # have measured Sparks so also force the link, which perftest otherwise takes for Ethernet.
    common = ["-R", "--force-link", "IB", "-F", "-p", PORT]
    if kind == RDMA_BANDWIDTH:
        common = ["ib_write_bw", *common, "--report_gbits", "-q", str(QUEUE_PAIRS), "-D", str(seconds)]
    else:
        common = ["ib_write_lat", *common]
    return [*common, "-d", link.server["rdma_device"]], [*common, "-d", link.client["rdma_device"], peer]


def _lacking(
    kind: str, pair: Pair, links: Sequence[SharedLink], looks: Mapping[str, Mapping[str, Any]]
) -> tuple[str, str]:
    """Why a measurement cannot be made, and what to do; nothing when it can."""
    ends = ((pair.client, "client"), (pair.server, "server"))
    for host, end in ends:
        for link in links:
            own: Mapping[str, str] = getattr(link, end)
            if not is_up(looks[host], own["interface"]):
                state = looks[host]["links"].get(own["interface"], {}).get("state", "")
                words = f"is {state}" if state else "is not there"
                return f"{own['interface']} of {host} {words}", "plug the cable in, or correct fabric_links"
            if kind == TCP:
                continue
            if not own["rdma_device"]:
                return f"fabric_links of {host} names no rdma_device for {own['interface']}", "add it"
            if not looks[host]["rdma_devices"]:
                return f"{host} has no RDMA device", "load mlx5_ib, or see whether the kernel has lost the network card"
            if own["rdma_device"] not in looks[host]["rdma_devices"]:
                return (
                    f"{host} has no RDMA device {own['rdma_device']}",
                    "correct fabric_links: rdma link shows the names",
                )
    tool, package = {TCP: ("iperf3", "iperf3")}.get(kind, ("ib_write_bw", "perftest"))
    without = [host for host, _end in ends if tool not in looks[host]["tools"]]
    if without:
        return f"{package} is not installed on {' and '.join(without)}", INSTALL
    return "", ""
