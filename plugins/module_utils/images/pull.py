# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pulling an image: from mirrors first, again where that may help, never one of another architecture."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.images import manifest_list, names, pull_errors
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image
from ansible_collections.dgxspark.serving.plugins.module_utils.images.spread import other_architecture


class Docker(Protocol):
    """What this needs of a :class:`docker_process.DockerProcess`."""

    def run(self, *arguments: str) -> tuple[int, str, str]: ...
    def follow(self, arguments: list[str], said: Callable[[str], None]) -> tuple[int, str]: ...
    def image(self, name: str) -> Image | None: ...


@dataclass(frozen=True)
class Order:
    """What to pull.

    :ivar name: that the image is to have on the host
    :ivar reference: what is asked of the registry, where a lock wants a digest
    :ivar architecture: that it must have, in Docker's words
    :ivar mirrors: asked before the registry, in this order
    :ivar attempts: how often the registry is asked that refuses for the moment
    :ivar delay: seconds until the second attempt
    """

    name: str
    reference: str
    architecture: str
    mirrors: Sequence[str]
    attempts: int
    delay: float


Tell = Callable[[str], None]
Sleep = Callable[[float], None]


def pull(order: Order, docker: Docker, tell: Tell, sleep: Sleep) -> dict[str, Any]:
    """Have the image of the registry under the wanted name.

    :param tell: is told what it is at
    :returns: ``image``, ``attempts`` at what worked, ``source`` that had it, and ``changed``
    :raises WorkFailed: when it cannot be had, with what to do
    """
    before = docker.image(order.name)
    sources = [(names.at_mirror(mirror, order.reference), 1) for mirror in order.mirrors]
    missed = []
    for source, attempts in [*sources, (order.reference, order.attempts)]:
        _refuse_other_architecture(source, order, docker)
        tell(f"asking for {source}")
        attempt, said = _attempts(source, attempts, order, docker, tell, sleep)
        if not said:
            image = _named(source, order, before, docker)
            if image:
                changed = before is None or before.id != image.id
                return {"changed": changed, "image": asdict(image), "attempts": attempt, "source": source}
            said = "Docker does not take its digest for that of the wanted name"
        missed.append((source, attempt, said))
    raise WorkFailed(_failure(order, missed))


def _failure(order: Order, missed: Sequence[tuple[str, int, str]]) -> str:
    """What to say when nobody gave it.

    :param missed: what was asked for, how often, and what was said; the image's own registry is the last
    """
    _source, attempt, said = missed[-1]
    times = f" after {attempt} attempts" if attempt > 1 else ""
    mirrors = "".join(f", nor from {source} ({words})" for source, _attempt, words in missed[:-1])
    remedy = pull_errors.judge(said).remedy
    return f"Found no image {order.name}, and it cannot be pulled{times}: {said}{mirrors}. {remedy}."


def _attempts(source: str, attempts: int, order: Order, docker: Docker, tell: Tell, sleep: Sleep) -> tuple[int, str]:
    """Pull until it works or cannot work: the number of the last attempt, and what Docker said when it failed."""
    pauses = pull_errors.pauses(attempts, order.delay)
    attempt = 0
    while True:
        attempt += 1
        layers = Layers()

        def line(text: str, layers: Layers = layers) -> None:
            if layers.read(text):
                tell(layers.shown())

        code, last = docker.follow(["pull", "--platform", f"linux/{order.architecture}", source], line)
        if not code:
            return attempt, ""
        said = pull_errors.words(last)
        pause = next(pauses, None)
        if not pull_errors.judge(said).again or pause is None:
            return attempt, said
        tell(f"again in {pause:g} s, for {said}")
        sleep(pause)


def _named(source: str, order: Order, before: Image | None, docker: Docker) -> Image | None:
    """Give what was pulled the wanted name, unless it is for other machines; None when Docker cannot name it so."""
    pulled = docker.image(source)
    wrong = other_architecture(order.name, asdict(pulled), order.architecture) if pulled else ""
    if wrong:
        if source == order.name and before:
            docker.run("tag", before.id, order.name)
        else:
            docker.run("image", "rm", source)
        raise WorkFailed(f"Found that {wrong}")
    if source != order.name and not names.read(order.name).digest:
        docker.run("tag", source, order.name)
    return docker.image(order.name)


def _refuse_other_architecture(source: str, order: Order, docker: Docker) -> None:
    """Ask the registry for which machines it has the image, before anything is pulled (field fault D01).

    A registry that cannot be asked like this is no fault: the image is looked at when it is here.

    :raises WorkFailed: when it is for other machines only
    """
    found = _platforms(source, docker)
    if not found or manifest_list.has(found, order.architecture):
        return
    parts = names.read(source)
    other = ""
    for tag in manifest_list.likely_tags(parts.tag, order.architecture) if parts.tag else ():
        candidate = f"{names.untagged(source)}:{tag}"
        if manifest_list.has(_platforms(candidate, docker) or (), order.architecture):
            other = candidate
            break
    raise WorkFailed(manifest_list.refusal(source, found, order.architecture, other))


def _platforms(name: str, docker: Docker) -> list[str] | None:
    insecure = ["--insecure"] if names.read(name).loopback else []
    # The short answer first: the long one asks the registry for each entry of a list.
    for options in ([], ["--verbose"]):
        code, out, _error = docker.run("manifest", "inspect", *insecure, *options, name)
        if code:
            return None
        try:
            found = manifest_list.platforms(out)
        except ValueError:
            return None
        if found:
            return found
    return None


class Layers:
    """How far a pull is, by the lines that Docker writes where nobody watches."""

    _LINE = re.compile(
        r"^([0-9a-f]{12}): (Pulling fs layer|Waiting|Verifying Checksum|Download complete|Pull complete|Already exists)"
    )

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def read(self, line: str) -> bool:
        """Take a line; whether it is about a layer."""
        found = self._LINE.match(line)
        if found:
            self._states[found[1]] = found[2]
        return bool(found)

    def shown(self) -> str:
        """The layers that are there, of those that are known."""
        done = sum(state in ("Pull complete", "Already exists") for state in self._states.values())
        return f"{done} of {len(self._states)} layers"
