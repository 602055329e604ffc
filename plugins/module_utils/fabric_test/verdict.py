# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the figures of one pair mean: one word, why, and what to do. The worst that explains the figures counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.engines.group import ROCE
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import figures
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.orders import (
    ALL_GATHER,
    RDMA_BANDWIDTH,
    TCP,
)

HEALTHY = "healthy"
NOT_JUDGED = "not judged"
FAILED = "failed"
DOWN = "link down"
DEGRADED = "degraded init"
SOCKETS = "sockets only"
ONE_TWIN = "one twin"
MTU = "MTU"
BELOW = "below"
GOOD = (HEALTHY, NOT_JUDGED)
# A twin that carried less than this share of what both carried was not used.
USED = 0.1


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a pair.

    :ivar why: one sentence with the figures
    :ivar remedy: one sentence; empty when there is nothing to do
    :ivar notes: sentences about what is odd beside that
    """

    word: str
    why: str
    remedy: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Link:
    """A link of a pair, by its names on the client, and the worse of its two ends.

    :ivar speed: in Mb/s, 0 where not known
    :ivar mtu: 0 where not known
    :ivar speed_at: the end that has this speed, such as ``enp1s0f0np0 of spark2``
    :ivar mtu_at: the end that has this MTU
    :ivar down_at: the end that is not up; empty when both are
    """

    interface: str
    rdma_device: str
    speed: int
    mtu: int
    speed_at: str
    mtu_at: str
    down_at: str = ""


def judge(links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> Verdict:
    """The verdict on a pair.

    :param links: the links that its hosts share
    :param results: as :mod:`results` gives them, of this pair alone
    """
    results = [one for one in results if not one["settings"]]
    notes = _notes(links, results)
    broken = next((one for one in results if one["failed"]), None)
    measured = [one for one in results if one["value"] is not None]
    down = next((link for link in links if link.down_at), None)
    if down is not None:
        remedy = (
            "See that the cable sits in the same port at both ends; after a warm reboot switch the host off and on."
        )
        return Verdict(DOWN, f"{down.down_at} is not up, so it carries nothing.", remedy, notes)
    odd = next((link for link in links if link.speed != figures.QSFP_MBITS), None)
    if odd is not None and not broken:
        speed = f"{odd.speed} Mb/s" if odd.speed else "no speed"
        return Verdict(NOT_JUDGED, f"no QSFP link of a DGX Spark: {odd.speed_at} says {speed}.", notes=notes)
    for check in (_degraded, _sockets, _one_twin, _mtu) if odd is None else ():
        verdict = check(links, measured)
        if verdict is not None:
            return Verdict(verdict.word, verdict.why, verdict.remedy, notes)
    if broken:
        why = f"{broken['kind']} over {' + '.join(broken['over'])} failed: {broken['failed']}."
        return Verdict(FAILED, why, "Run the playbook preflight, which checks links and addresses.", notes)
    last = _passed(links, measured)
    return Verdict(last.word, last.why, last.remedy, notes)


def _figure(results: Sequence[Mapping[str, Any]], kind: str, over: Sequence[str]) -> float | None:
    return next((one["value"] for one in results if one["kind"] == kind and list(one["over"]) == list(over)), None)


def _alone(link: Link, results: Sequence[Mapping[str, Any]]) -> float | None:
    """Gb/s of one link alone: RDMA, which the processor does not slow down, else TCP."""
    rdma = _figure(results, RDMA_BANDWIDTH, [link.rdma_device])
    return rdma if rdma is not None else _figure(results, TCP, [link.interface])


def _together(links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> tuple[float | None, str]:
    """Gb/s of all links at once, and its kind."""
    rdma = _figure(results, RDMA_BANDWIDTH, [link.rdma_device for link in links])
    if rdma is not None:
        return rdma, RDMA_BANDWIDTH
    return _figure(results, TCP, [link.interface for link in links]), TCP


def _gather(results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((one for one in results if one["kind"] == ALL_GATHER), None)


def _degraded(links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> Verdict | None:
    for link in links:
        alone = _alone(link, results)
        if alone is not None and alone <= figures.DEGRADED_GBITS:
            return Verdict(
                DEGRADED,
                f"{link.interface} says {link.speed} Mb/s and moves {alone:.1f} Gb/s; a good one moves "
                f"{figures.GOOD[RDMA_BANDWIDTH].one}.",
                "Shut both hosts down, take their power bricks off the mains for a minute, and test again.",
            )
    return None


def _sockets(_links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> Verdict | None:
    gather = _gather(results)
    if gather is None:
        return None
    if gather["sockets"] and gather["transport"] == ROCE:
        return Verdict(
            SOCKETS,
            f"NCCL found no RDMA device in the container and went over TCP: {gather['value']:.1f} GB/s.",
            "The container needs --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit memlock=-1; "
            "see that /dev/infiniband is on both hosts and that the image has libibverbs.",
        )
    if gather["value"] <= figures.SOCKETS_BUSBW:
        return Verdict(
            SOCKETS,
            f"The all-gather moved {gather['value']:.1f} GB/s, as over TCP; a good link moves "
            f"{figures.GOOD[ALL_GATHER].both}.",
            "Name rdma_device for each entry of fabric_links, and leave serving_transport at auto.",
        )
    return None


def _one_twin(links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> Verdict | None:
    """Half a cable's bandwidth (field fault N18)."""
    add_both = "Name both twins of the cable in fabric_links, each with its rdma_device and its own network."
    gather = _gather(results)
    hca = gather["environment"].get("NCCL_IB_HCA", "") if gather else ""
    half = f"one half only of the cable was used (NCCL_IB_HCA={hca}): " if hca and "," not in hca else ""
    if gather and gather["value"] < figures.ONE_TWIN_BUSBW:
        why = f"{half or 'One half of the cable was used: '}{gather['value']:.1f} GB/s in the all-gather"
        return Verdict(ONE_TWIN, f"{_upper(why)}; both move {figures.GOOD[ALL_GATHER].both}.", add_both)
    if gather and gather["transport"] == ROCE and len(links) > 1:
        devices = [link.rdma_device for link in links]
        idle = _idle(devices, devices, gather)
        if idle:
            return Verdict(ONE_TWIN, f"{idle} carried nothing of the all-gather.", add_both)
    if len(links) == 1:
        alone = _alone(links[0], results)
        figure = f": {alone:.1f} Gb/s" if alone is not None else ""
        return Verdict(ONE_TWIN, f"The hosts share one half only of a cable, {links[0].interface}{figure}.", add_both)
    both, _kind = _together(links, results)
    singles = [alone for link in links if (alone := _alone(link, results)) is not None]
    if both is not None and len(singles) == len(links) and both < figures.TWINS_GAIN * max(singles):
        return Verdict(
            ONE_TWIN,
            f"All links at once move {both:.1f} Gb/s, the best alone {max(singles):.1f} Gb/s: they share one path.",
            "Give each twin a network of its own, and see in the playbook preflight that both have PCIe x4.",
        )
    return None


def _mtu(links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> Verdict | None:
    small = next((link for link in links if 0 < link.mtu < figures.JUMBO), None)
    if small is None or not results:
        return None
    figure = _passed(links, results)
    return Verdict(
        MTU,
        f"{small.mtu_at} has MTU {small.mtu}, wanted {figures.JUMBO} at both ends; {figure.why[0].lower()}"
        f"{figure.why[1:]}",
        "Set it with: ansible-playbook prepare.yml --tags fabric.",
    )


def _passed(links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> Verdict:
    """Against the pass mark, by the best evidence there is."""
    gather = _gather(results)
    if gather is not None:
        words = f"The all-gather moved {gather['value']:.1f} GB/s ({gather['value'] * 8:.0f} Gb/s)"
        return _marked(gather["value"] * 8, figures.PASS_GBITS, words, "NVIDIA's pass mark is")
    both, kind = _together(links, results)
    if both is None:
        return Verdict(NOT_JUDGED, "nothing was measured that says how fast the link is.")
    if kind == RDMA_BANDWIDTH:
        return _marked(both, figures.PASS_GBITS, f"RDMA moved {both:.0f} Gb/s over all links", "the pass mark is")
    words = f"TCP moved {both:.0f} Gb/s over all links, RDMA was not measured"
    return _marked(both, figures.TCP_BOTH_GBITS, words, "good links move at least")


def _marked(value: float, mark: float, words: str, what: str) -> Verdict:
    why = f"{words}; {what} {mark:.0f} Gb/s."
    if value >= mark:
        return Verdict(HEALTHY, why)
    remedy = "Look into the playbook preflight for PCIe width, clocks and kernel settings, and try another cable."
    return Verdict(BELOW, why, remedy)


def _notes(links: Sequence[Link], results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Oddities that need no QSFP link to be seen: unlike twins, and traffic that left by the wrong one."""
    notes = []
    for kind in (TCP, RDMA_BANDWIDTH):
        single = {
            one["over"][0]: one["value"]
            for one in results
            if one["kind"] == kind and len(one["over"]) == 1 and one["value"] is not None
        }
        if len(single) > 1 and min(single.values()) < figures.UNEVEN * max(single.values()):
            slow, fast = min(single, key=lambda name: single[name]), max(single, key=lambda name: single[name])
            notes.append(f"{slow} moves {single[slow]:.2f} Gb/s, {fast} {single[fast]:.2f} Gb/s: they are not alike.")
    for one in results:
        # Of several at once a slow one carries little, which is its own note.
        if one["kind"] != TCP or one["value"] is None or len(one["over"]) > 1:
            continue
        idle = _idle(one["over"], [link.interface for link in links], one)
        if idle:
            notes.append(f"traffic for {idle} left by another interface: give each link a network of its own.")
    return tuple(dict.fromkeys(notes))


def _idle(names: Sequence[str], among: Sequence[str], result: Mapping[str, Any]) -> str:
    """The one of ``names`` that carried next to nothing of what all of ``among`` did; empty when nobody counted."""
    moved = {name: result["moved"].get(name, 0) for name in among}
    total = sum(moved.values())
    if not total:
        return ""
    return next((name for name in names if moved.get(name, 0) < USED * total / len(names)), "")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
