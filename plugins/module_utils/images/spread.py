# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has an image, who gets it from outside, and who gets it from another host. Pure, on the controller.

Decided in two steps for each image: one host gets it from outside where that is needed (:func:`first`), and when that
is done, that host's image is held against those of the others (:func:`second`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.images import lock, names
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import same_image
from ansible_collections.dgxspark.serving.plugins.module_utils.images.room import too_little

Seen = Mapping[str, Mapping[str, Any]]
PULL, LOAD = "pull", "load"


@dataclass(frozen=True)
class Wish:
    """What the user asked for.

    :ivar architecture: that the image must have, in Docker's words
    :ivar tar: file of an image, on a host; empty when there is none
    :ivar source: host whose image all are to have; empty when it does not matter
    :ivar update: whether a newer image is looked for where the name is there
    :ivar fan_out: whether hosts get the image from each other
    :ivar locks: the lock's entries by image name; empty when there is no lock
    :ivar lock_path: where they were read
    """

    architecture: str = "arm64"
    tar: str = ""
    source: str = ""
    update: bool = False
    fan_out: bool = True
    locks: lock.Locks = field(default_factory=dict)
    lock_path: str = ""

    def locked(self, name: str) -> Mapping[str, Any] | None:
        """The lock's entry that holds in this run."""
        return None if self.update else self.locks.get(name)

    @property
    def replaces(self) -> bool:
        """Whether hosts that have another image get this one."""
        return bool(self.tar or self.source or self.update)


@dataclass(frozen=True)
class Part:
    """What a host does for its image.

    :ivar source: the host whose image this one is to have; empty when nobody has to do anything for it
    :ivar action: ``pull``, ``load`` or nothing
    :ivar reference: what to pull
    :ivar receives: it gets the image from ``source``
    :ivar gives: it gives its image to others
    :ivar key: names the copying of one image
    :ivar fault: what keeps it from having its image, a sentence
    """

    source: str = ""
    action: str = ""
    reference: str = ""
    receives: bool = False
    gives: bool = False
    key: str = ""
    fault: str = ""


def by_image(wanted: Mapping[str, str]) -> dict[str, list[str]]:
    """Hosts by the image that they are to have."""
    found: dict[str, list[str]] = {}
    for host, name in wanted.items():
        found.setdefault(name, []).append(host)
    return found


def first(wanted: Mapping[str, str], seen: Seen, wish: Wish, meet: Callable[[str, str], bool]) -> dict[str, Part]:
    """Say who gets the image from outside.

    :param wanted: image names by host, in the order of the plan
    :param seen: what each host said of its image: ``image``, and with a tar ``archive``
    :param meet: whether one host can give another an image
    """
    parts: dict[str, Part] = {}
    for name, hosts in by_image(wanted).items():
        faults = _faults(name, hosts, seen, wish)
        able = [host for host in hosts if host not in faults]
        parts.update({host: Part(fault=fault) for host, fault in faults.items()})
        if able:
            parts.update(_first(name, able, seen, wish, meet))
    return parts


def _faults(name: str, hosts: Sequence[str], seen: Seen, wish: Wish) -> dict[str, str]:
    """What is wrong with what there is, by host."""
    if wish.tar:
        return _tar_faults(name, hosts, seen, wish)
    if wish.source:
        if wish.source not in hosts:
            said = f"found image_from {wish.source}, wanted a host that serves with {name}: {', '.join(hosts)}."
            return dict.fromkeys(hosts, said)
        given = seen[wish.source]["image"]
        if not given:
            said = f"found no image {name} on {wish.source}, which image_from names. Name a host that has it."
            return dict.fromkeys(hosts, said)
        wrong = other_architecture(name, given, wish.architecture)
        return dict.fromkeys(hosts, wrong) if wrong else {}
    faults = {}
    for host in hosts:
        image, locked = seen[host]["image"], wish.locked(name)
        if not image or wish.update:
            continue
        wrong = other_architecture(name, image, wish.architecture)
        if not wrong and locked and not lock.matches(locked, image):
            wrong = lock.refusal(name, image, locked, wish.lock_path)
        if wrong:
            faults[host] = wrong
    return faults


def _tar_faults(name: str, hosts: Sequence[str], seen: Seen, wish: Wish) -> dict[str, str]:
    holder = next((host for host in hosts if seen[host].get("archive")), "")
    if not holder:
        wanted = f"wanted it on one of {', '.join(hosts)}"
        return dict.fromkeys(hosts, f"found no file {wish.tar}, {wanted}. Correct image_tar, or copy it there.")
    archive = seen[holder]["archive"]
    if archive["problem"]:
        said = f"found no image {name} in {wish.tar} on {holder}: {archive['problem']}. Make it with: docker save."
        return dict.fromkeys(hosts, said)
    if archive["architecture"] != wish.architecture:
        found = f"found an image for {archive['architecture']} in {wish.tar} on {holder}, wanted {wish.architecture}"
        return dict.fromkeys(hosts, f"{found}. Save one for {wish.architecture}.")
    return {}


def other_architecture(name: str, image: Mapping[str, Any], architecture: str) -> str:
    """What is wrong with an image of another architecture (field fault D01)."""
    if image["architecture"] == architecture:
        return ""
    return (
        f"image {name} is for {image['architecture']}, wanted {architecture}. Set serving_image to an image for"
        f" {architecture}, and remove this one with: docker image rm {name}."
    )


def _first(
    name: str, hosts: Sequence[str], seen: Seen, wish: Wish, meet: Callable[[str, str], bool]
) -> dict[str, Part]:
    have = [host for host in hosts if seen[host]["image"]]
    if wish.tar:
        source = next(host for host in hosts if seen[host].get("archive"))
        archive, image = seen[source]["archive"], seen[source]["image"]
        there = bool(image) and list(image["layers"]) == list(archive["layers"])
        parts = {host: Part(source) for host in hosts}
        parts[source] = Part(source, action="" if there else LOAD)
        return parts
    if not wish.update and (wish.source or len(have) == len(hosts)):
        return {host: Part(wish.source) for host in hosts}
    source = hosts[0] if wish.update or not have else have[0]
    pullers = hosts if wish.update else [host for host in hosts if host not in have]
    # Docker's older store has a name with a digest from a registry only, so it cannot be copied.
    if wish.fan_out and not names.read(name).digest:
        pullers = [host for host in pullers if host == source or not meet(source, host)]
    locked = wish.locked(name)
    reference = lock.pull_by(name, locked) if locked else name
    parts = {host: Part(source) for host in hosts}
    for host in pullers:
        parts[host] = Part(source, action=PULL, reference=reference)
        if not reference:
            parts[host] = Part(
                fault=f"found no image {name}, and {wish.lock_path} names one that no registry knows."
                " Load it from a file with -e image_tar=FILE, or take another one with -e image_update=true."
            )
    return parts


def second(
    wanted: Mapping[str, str],
    parts: Mapping[str, Part],
    seen: Seen,
    wish: Wish,
    meet: Callable[[str, str], bool],
) -> dict[str, Part]:
    """Say who gets the image from whom, now that it was got from outside.

    :param wanted: image names of the hosts that have not failed, in the order of the plan
    :param parts: what :func:`first` said of each host
    :param seen: what each host has now, and its ``room``
    """
    found: dict[str, Part] = {}
    for name, hosts in by_image(wanted).items():
        source = next((parts[host].source for host in hosts if parts[host].source), "")
        if not source:
            found.update({host: Part() for host in hosts})
            continue
        image = seen[source]["image"] if source in hosts else None
        fault = _source_fault(name, source, image, wish)
        lacking = [host for host in hosts if host != source and _lacks(parts[host], seen[host]["image"], image, wish)]
        key = _key(name, image)
        for host in hosts:
            found[host] = Part(source, parts[host].action, key=key)
            if fault and (host == source or host in lacking):
                found[host] = Part(source, fault=fault)
            elif host in lacking:
                found[host] = _receiver(name, source, host, image or {}, parts[host], seen, meet)
        if any(found[host].receives for host in hosts):
            found[source] = Part(source, parts[source].action, gives=True, key=key)
    return found


def _source_fault(name: str, source: str, image: Mapping[str, Any] | None, wish: Wish) -> str:
    if image is None:
        return f"found no image {name}: it was to come from {source}, which failed. Mend that first."
    locked = wish.locked(name)
    if locked and not lock.matches(locked, image):
        return f"on {source}, {lock.refusal(name, image, locked, wish.lock_path)}"
    return other_architecture(name, image, wish.architecture)


def _lacks(part: Part, image: Mapping[str, Any] | None, given: Mapping[str, Any] | None, wish: Wish) -> bool:
    """Whether a host has not what it is to have; one that was pulled beside the source's may be another."""
    if image is None:
        return True
    return bool(wish.replaces or part.action) and not same_image(image, given)


def _receiver(
    name: str,
    source: str,
    host: str,
    image: Mapping[str, Any],
    part: Part,
    seen: Seen,
    meet: Callable[[str, str], bool],
) -> Part:
    if part.action == PULL:
        return Part(source, fault=f"pulled another image {name} than {source}: its tag was moved meanwhile. Run again.")
    if not meet(source, host):
        said = f"found no way from {source} to {host} over the fabric for image {name}. Correct fabric_links, or set"
        return Part(source, fault=f"{said} fanout_network: any, or load the image there with: docker load.")
    fault = too_little(name, int(image["size"]), seen[host].get("room") or {})
    return Part(source, receives=not fault, key=_key(name, image), fault=fault)


def _key(name: str, image: Mapping[str, Any] | None) -> str:
    return hashlib.sha256(f"{name} {image['id']}".encode()).hexdigest()[:16] if image else ""
