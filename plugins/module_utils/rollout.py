# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order replicas are changed, so that the others serve meanwhile, and which are not touched at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import same_image

UNCHANGED = -1


@dataclass(frozen=True)
class Turn:
    """What a host does in this run.

    :ivar wave: waves are changed one after the other, replicas of one wave at once; ``UNCHANGED`` when its replica is
        as wanted
    :ivar after: hosts of earlier waves, which must have succeeded
    :ivar together: hosts of its replica and of all whose fate it shares in this change, itself among them
    :ivar replace: whether the rank's container must be made anew
    :ivar reasons: what is not as wanted, words
    :ivar problems: what keeps this replica from being changed, sentences
    """

    wave: int
    after: tuple[str, ...]
    together: tuple[str, ...]
    replace: bool
    reasons: tuple[str, ...]
    problems: tuple[str, ...]


def turns(
    replicas: Sequence[Mapping[str, Any]], seen: Mapping[str, Mapping[str, Any]], alive: Collection[str]
) -> dict[str, Turn]:
    """Give each host that serves its turn.

    A replica that stands still, or has nothing to lose, is started with the others of its kind; one that serves, or
    that takes the place of one that does, has a wave of its own.

    :param replicas: those of the plan, with ``name`` and ``hosts``
    :param seen: what ``replica_info`` returned on each host
    :param alive: hosts that have not failed in this run
    """
    problems = {replica["name"]: _problems(replica, seen, alive) for replica in replicas}
    able = [replica for replica in replicas if not problems[replica["name"]]]
    changed = [r for r in able if not all(seen[host]["unchanged"] for host in r["hosts"])]
    still = [r for r in changed if not any(seen[host]["running"] for host in r["hosts"])]
    groups = ([still] if still else []) + _components([r for r in changed if r not in still], seen)
    found: dict[str, Turn] = {}
    earlier: list[str] = []
    for wave, members in enumerate(groups):
        hosts = [host for replica in members for host in replica["hosts"]]
        for replica in members:
            # What stood still has nothing to bring back, so its replicas do not share their fate.
            together = replica["hosts"] if members is still else hosts
            replace = any(seen[host]["replace"] for host in replica["hosts"])
            for host in replica["hosts"]:
                reasons = tuple(seen[host]["reasons"])
                found[host] = Turn(wave, tuple(earlier), tuple(together), replace, reasons, ())
        earlier += hosts
    for replica in replicas:
        for host in replica["hosts"]:
            words = tuple(problems[replica["name"]])
            found.setdefault(host, Turn(UNCHANGED, (), tuple(replica["hosts"]), False, (), words))
    return found


def _problems(replica: Mapping[str, Any], seen: Mapping[str, Mapping[str, Any]], alive: Collection[str]) -> list[str]:
    """Why a replica cannot be changed now; an unchanged one has none."""
    gone = [host for host in replica["hosts"] if host not in alive or "unchanged" not in seen.get(host, {})]
    if gone:
        return [f"replica {replica['name']} is left as it is, for {', '.join(gone)} failed or cannot be reached"]
    words = [
        f"{host}: found {problem['found']}, wanted {problem['wanted']}. {problem['remedy']}"
        for host in replica["hosts"]
        for problem in seen[host]["problems"]
    ]
    first = replica["hosts"][0]
    words += [
        f"{host} has another image {replica['image']} than {first}: ranks of different builds hang. "
        "Bring the same image to both"
        for host in replica["hosts"][1:]
        # In check mode an image may still have to be pulled.
        if seen[first]["image"] and seen[host]["image"] and not same_image(seen[first]["image"], seen[host]["image"])
    ]
    return words


def _components(
    replicas: Sequence[Mapping[str, Any]], seen: Mapping[str, Mapping[str, Any]]
) -> list[list[Mapping[str, Any]]]:
    """Group replicas that take the hosts of one running replica: an old pair cannot come back on one host only."""
    groups: list[tuple[set[str], list[Mapping[str, Any]]]] = []
    for replica in replicas:
        old = {name for host in replica["hosts"] for name in seen[host]["running"]}
        members = [replica]
        rest = []
        for names, others in groups:
            if names & old:
                old |= names
                members = others + members
            else:
                rest.append((names, others))
        groups = [*rest, (old, members)]
    return [members for _names, members in groups]
