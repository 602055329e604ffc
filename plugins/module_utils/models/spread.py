# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has a model, who gets it from whom, and who downloads it. Pure, on the controller, over what hosts said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import PATH
from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size

DOWNLOAD, SOURCE, RECEIVE, NOTHING = "download", "source", "receive", ""
DIFFER = "Name the host whose files are right with -e model_from=HOST, or one revision with serving_model_revision"


@dataclass(frozen=True)
class View:
    """What a host said of its model.

    :ivar host: its name
    :ivar key: the same for hosts that are to have the same files
    :ivar what: what people call the model
    :ivar hub: ``huggingface``, ``modelscope`` or ``path``
    :ivar problems: why it is not whole; empty when it is
    :ivar files: tells one set of files from another: a fingerprint, or the digest of a manifest where all was hashed
    :ivar wrong: paths whose content is known to be wrong
    :ivar size: bytes
    """

    host: str
    key: str
    what: str
    hub: str
    problems: Sequence[str] = ()
    files: str = ""
    wrong: Collection[str] = ()
    size: int = 0

    @property
    def good(self) -> bool:
        """Whether others may copy it."""
        return not self.problems and not self.wrong


@dataclass
class Spread:
    """What is to be done.

    :ivar steps: for each host ``download``, ``source``, ``receive``, or nothing
    :ivar sources: for each host that receives, from whom
    :ivar refused: for each host that cannot get the model, why: sentences
    :ivar words: one line for each model that moves
    """

    steps: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)


def key_of(hub: str, model: str, revision: str) -> str:
    """The same for hosts that are to have the same files."""
    return "\n".join((hub, model, revision))


def view(host: str, revision: str, found: Mapping[str, Any], hashed: Mapping[str, Any], compare: bool = True) -> View:
    """Read what a host said.

    :param revision: as the user asked for it; may be empty
    :param found: what ``model_info`` returned
    :param hashed: what ``model_manifest`` returned; empty where the contents were not read
    :param compare: whether hosts that have it whole must have the same files
    """
    return View(
        host=host,
        key=key_of(found["hub"], found["model"], revision),
        what=f"{found['model']} at {revision}" if revision else found["model"],
        hub=found["hub"],
        problems=found["problems"],
        files=(hashed.get("digest") or found["fingerprint"]) if compare else "",
        wrong=hashed.get("wrong") or (),
        size=found["size"],
    )


def decide(views: Iterable[View], download: bool, truth: str = "", lost: Mapping[str, str] | None = None) -> Spread:
    """Say what each host is to do.

    :param download: whether a model that no host has may be downloaded
    :param truth: the host whose files count as right; empty where all have the same
    :param lost: for the key of each model whose download has failed, on which host
    """
    groups: dict[str, list[View]] = {}
    for one in views:
        groups.setdefault(one.key, []).append(one)
    spread = Spread()
    for group in groups.values():
        _decide(group, download, truth, (lost or {}).get(group[0].key, ""), spread)
    return spread


def offers(
    spread: Spread, views: Iterable[View], roots: Mapping[str, str], hashed: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """What the role ``fanout`` is told of each host that takes part.

    :param roots: for each host the folder that paths of its manifest are relative to
    :param hashed: what ``model_manifest`` returned on hosts whose contents were read
    """
    taking = {*spread.sources, *spread.sources.values()}
    return {
        one.host: {
            "key": one.key,
            "what": f"model {one.what}",
            "source": one.host not in spread.sources,
            "root": roots[one.host],
            "distrust": sorted({*one.wrong, *_differing(one.host, spread.sources, hashed)}),
        }
        for one in views
        if one.host in taking
    }


def _differing(host: str, sources: Mapping[str, str], hashed: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Paths whose content on a host is another than where it is copied from, where both were read."""
    own, right = _sums(hashed.get(host)), _sums(hashed.get(sources.get(host, "")))
    return {path for path, digest in own.items() if right.get(path, digest) != digest}


def _sums(hashed: Mapping[str, Any] | None) -> dict[str, str]:
    entries = ((hashed or {}).get("manifest") or {}).get("entries") or ()
    return {entry["path"]: entry["sha256"] for entry in entries if "sha256" in entry}


def _decide(group: Sequence[View], download: bool, truth: str, lost: str, spread: Spread) -> None:
    good = [one for one in group if one.good]
    chosen = [one for one in good if one.host == truth]
    named = any(one.host == truth for one in group)
    if not good and not named and download and group[0].hub != PATH:
        # What is there already need not come again.
        most = max(group, key=lambda one: one.size)
        spread.steps.update({one.host: NOTHING for one in group}, **{most.host: DOWNLOAD})
        spread.words.append(f"{most.what} is in no cache: {most.host} downloads it")
        return
    if not (chosen if named else good):
        for one in group:
            spread.refused[one.host] = _missing(one, truth if named else "", download, lost)
        return
    files = Counter(one.files for one in good)
    best = files.most_common(2)
    if not named and len(best) > 1 and best[0][1] == best[1][1]:
        words = "; ".join(f"{name[:12]} on {_names(good, name)}" for name in files)
        for one in group:
            spread.refused[one.host] = (
                f"found different files of model {one.what} ({words}), wanted the same on all hosts. {DIFFER}."
            )
        return
    right = chosen[0] if named else next(one for one in good if one.files == best[0][0])
    receivers = [one for one in group if not (one.good and one.files == right.files)]
    for one in group:
        spread.steps[one.host] = RECEIVE if one in receivers else NOTHING
    if receivers:
        spread.steps[right.host] = SOURCE
        spread.sources.update({one.host: right.host for one in receivers})
        hosts = ", ".join(one.host for one in receivers)
        spread.words.append(f"{right.what}, {size(right.size)}, is copied from {right.host} to {hosts}")


def _names(views: Iterable[View], files: str) -> str:
    return ", ".join(one.host for one in views if one.files == files)


def _missing(one: View, truth: str, download: bool, lost: str) -> str:
    """Why a host cannot get its model."""
    if lost:
        return f"model {one.what} is not whole here, and its download on {lost} has failed, which says why."
    if truth and one.host != truth:
        return f"model {one.what} is to come from {truth}, where it is not whole. Mend it, or name another host."
    found = "; ".join([*one.problems, *(f"wrong content of {path}" for path in sorted(one.wrong))])
    if one.hub == PATH:
        remedy = "Copy the folder to one of the hosts, which gives it to the others, or correct serving_model"
    elif download:
        remedy = "Mend it there, or name another host with model_from"
    else:
        remedy = "Let it be downloaded with -e model_download=true, or copy it to the cache of one of the hosts"
    return f"model {one.what} is not whole: found {found}, wanted a config, a tokenizer and all weight files. {remedy}."
