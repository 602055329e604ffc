# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the hosts must have in common. Pure, on the controller, over the facts that each host's checks gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.across_network import address, mtu
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import same_image

Hosts = Mapping[str, Mapping[str, Any]]
Replicas = Sequence[Mapping[str, Any]]
Findings = list[tuple[str, Check]]

# Seconds: more is seen in logs and certificates; with much more, tokens and package signatures are refused.
SKEW, MUCH_SKEW = 2.0, 60.0


def checks(hosts: Hosts, replicas: Replicas) -> Findings:
    """Hold the hosts against each other.

    :param hosts: the facts of each host that could be looked at
    :param replicas: ``name``, ``deployment`` and ``hosts`` of each, rank 0 first
    :returns: each finding with its host, or with an empty one when it is about all
    """
    findings: Findings = []
    for name, ask in _QUESTIONS.items():
        found = ask(hosts, replicas)
        findings += found or [("", skipped(name, "fewer than two hosts to compare"))]
    return findings


def _pairs(replicas: Replicas, known: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Each host of a replica with the first of that replica, of those of which something is known."""
    for replica in replicas:
        first, *others = [host for host in replica["hosts"] if host in known] or [""]
        yield from ((first, other) for other in others)


def _known(hosts: Hosts, *path: str) -> dict[str, Any]:
    """One fact of each host that has it."""
    found = {}
    for host, value in hosts.items():
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value:
            found[host] = value
    return found


def _driver(hosts: Hosts, _replicas: Replicas) -> Findings:
    name = "across.driver"
    drivers = _known(hosts, "gpu", "driver")
    if len(drivers) < 2:
        return []
    by_driver: dict[str, list[str]] = {}
    for host, driver in drivers.items():
        by_driver.setdefault(driver, []).append(host)
    if len(by_driver) == 1:
        return [("", passed(name, f"{next(iter(by_driver))} on {len(drivers)} hosts"))]
    found = "; ".join(f"{driver} on {', '.join(those)}" for driver, those in by_driver.items())
    remedy = "Bring all hosts to the same release of DGX OS, and reboot those that were behind"
    return [("", warned(name, found, "one driver on all hosts", remedy))]


def _image(hosts: Hosts, replicas: Replicas) -> Findings:
    """Ids are compared through :func:`images.same_image` alone (field fault D04)."""
    name = "across.image"
    images = _known(hosts, "image")
    versions = _known(hosts, "versions")
    compared = False
    findings: Findings = []
    for first, other in _pairs(replicas, images):
        compared = True
        if same_image(images[first], images[other]):
            continue
        if images[first]["architecture"] != images[other]["architecture"]:
            findings.append((other, skipped(name, "follows from image.architecture")))
            continue
        found, wanted = _shown(images[other]), f"{_shown(images[first])}, as {first} has"
        # An image that was built or loaded has no digest to know it by, so what is in it may speak for it.
        told = images[first]["repo_digests"] and images[other]["repo_digests"]
        alike = not told and first in versions and versions[first] == versions.get(other)
        remedy = f"Copy that of {first} to all with -e image_from={first}, or pull the same image on both"
        findings.append((other, (warned if alike else failed)(name, found, wanted, remedy)))
    for deployment, firsts in _by_deployment(replicas, images).items():
        for host in firsts[1:]:
            compared = True
            if not same_image(images[firsts[0]], images[host]):
                wanted = f"{_shown(images[firsts[0]])}, as {firsts[0]} has for {deployment} too"
                remedy = "Pull the same image on all hosts of the deployment, or its replicas answer differently"
                findings.append((host, warned(name, _shown(images[host]), wanted, remedy)))
    return findings or ([("", passed(name, "the same image on the hosts of each deployment"))] if compared else [])


def _by_deployment(replicas: Replicas, known: Mapping[str, Any]) -> dict[str, list[str]]:
    """The first known host of each replica, by deployment."""
    found: dict[str, list[str]] = {}
    for replica in replicas:
        for host in [host for host in replica["hosts"] if host in known][:1]:
            found.setdefault(replica["deployment"], []).append(host)
    return found


def _shown(image: Mapping[str, Any]) -> str:
    """The digest of a registry, or else the id, as far as people read it."""
    digest = image["repo_digests"][0].rpartition("@")[2] if image["repo_digests"] else image["id"]
    kind = "digest" if image["repo_digests"] else "id"
    return f"{kind} {digest[:19]}"


def _versions(hosts: Hosts, replicas: Replicas) -> Findings:
    """Two builds of PyTorch or NCCL in one replica start, and hang at the first request (field fault N01)."""
    name = "across.versions"
    versions = _known(hosts, "versions")
    pairs = list(_pairs(replicas, versions))
    findings: Findings = []
    for first, other in pairs:
        one, two = versions[first], versions[other]
        differing = [what for what in one if what in two and one[what] != two[what]]
        if differing:
            found, wanted = (", ".join(f"{what} {those[what]}" for what in differing) for those in (two, one))
            remedy = f"Use the same image on both: ranks of different builds hang; copy that of {first} to {other}"
            findings.append((other, failed(name, found, f"{wanted}, as on {first}", remedy)))
    return findings or ([("", passed(name, "the same versions in each replica"))] if pairs else [])


def _model(hosts: Hosts, replicas: Replicas) -> Findings:
    name = "across.model"
    manifests = _known(hosts, "model", "manifest")
    pairs = list(_pairs(replicas, manifests))
    findings: Findings = [
        (
            other,
            failed(
                name,
                f"files with manifest {manifests[other][:12]}",
                f"{manifests[first][:12]}, as on {first}",
                f"Copy the model from {first} to {other} anew, or name one revision of it",
            ),
        )
        for first, other in pairs
        if manifests[first] != manifests[other]
    ]
    return findings or ([("", passed(name, "the same files in each replica"))] if pairs else [])


def _mtu(hosts: Hosts, replicas: Replicas) -> Findings:
    return mtu(_known(hosts, "network"), replicas)


def _address(hosts: Hosts, _replicas: Replicas) -> Findings:
    return address(_known(hosts, "network", "addresses"))


def _clock(hosts: Hosts, _replicas: Replicas) -> Findings:
    name = "across.clock"
    skews = {host: facts["clock_skew"] for host, facts in hosts.items() if facts.get("clock_skew") is not None}
    if not skews:
        return []
    ahead = {host: skew for host, skew in skews.items() if abs(skew) > SKEW}
    if len(ahead) == len(skews) > 1 and max(skews.values()) - min(skews.values()) <= SKEW:
        found = f"the clock of this controller is {_seconds(-skews[next(iter(skews))])} all hosts"
        return [("", warned(name, found, f"{SKEW:g} s at most", "Let the controller's clock be set by NTP"))]
    findings: Findings = [
        (
            host,
            (failed if abs(skew) > MUCH_SKEW else warned)(
                name,
                f"its clock is {_seconds(skew)} the controller's",
                f"{SKEW:g} s at most",
                "Run timedatectl set-ntp true on it, and see timedatectl timesync-status",
            ),
        )
        for host, skew in ahead.items()
    ]
    return findings or [("", passed(name, f"within {SKEW:g} s on {len(skews)} hosts"))]


def _seconds(skew: float) -> str:
    return f"{abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'}"


_QUESTIONS: dict[str, Callable[[Hosts, Replicas], Findings]] = {
    "across.driver": _driver,
    "across.image": _image,
    "across.versions": _versions,
    "across.model": _model,
    "across.mtu": _mtu,
    "across.address": _address,
    "across.clock": _clock,
}
