# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the folders that a model may be in: an edge, it lists caches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.models import (
    canonical,
    hub_cache,
    modelscope_cache,
    reference,
    roots,
    snapshot,
)


@dataclass(frozen=True)
class Place:
    """Where a model lies, or should.

    :ivar root: what to mount and to copy: a Hugging Face cache, or the model's own folder
    :ivar path: the folder with its files; empty when there is none
    :ivar repository: its folder in a Hugging Face cache, else empty
    :ivar revision: the snapshot, where the layout has any
    :ivar problem: why there is no folder, or why engines do not find it
    :ivar note: what the user should know about the choice
    """

    root: str
    path: str = ""
    repository: str = ""
    revision: str = ""
    problem: str = ""
    note: str = ""


def environment() -> dict[str, str]:
    """Variables of the user who logs in; sudo drops what sessions get from a file, so that is read, too."""
    try:
        text = Path(roots.ENVIRONMENT_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return {**roots.environment(text), **os.environ}


def find(
    model: reference.ModelReference, cache_dir: str, revision: str, environ: Mapping[str, str], home: str
) -> list[Place]:
    """Places of a model in the order in which to take them; at least one, which says what is wrong when there is none.

    :param cache_dir: the cache that the user names, or nothing
    :param revision: branch, tag or commit that the user names, or nothing
    :raises OSError: a cache cannot be read
    """
    if model.hub == reference.PATH:
        return [_folder(model.text)]
    if model.hub == reference.MODEL_SCOPE:
        return _of_modelscope(model.text, modelscope_cache.roots(cache_dir, environ, home), revision)
    return _of_hub(model.text, hub_cache.roots(cache_dir, environ, home), revision)


def _folder(path: str) -> Place:
    if not os.path.isdir(path):
        return Place(path, problem=f"no folder {path}")
    return Place(path, path)


def _of_hub(model: str, candidates: list[str], revision: str) -> list[Place]:
    name = hub_cache.folder(model)
    found = [_repository(root, name, revision) for root in candidates if os.path.isdir(os.path.join(root, name))]
    if found:
        first = candidates[0]
        return [
            place
            if place.root in (first, os.path.realpath(first))
            else _noted(place, f"found in {place.root}, not whole in {first}")
            for place in found
        ]
    others = [root for root in candidates[1:] if os.path.isdir(root)]
    elsewhere = f", nor in {', '.join(others)}" if others else ""
    return [Place(candidates[0], problem=f"no folder {os.path.join(candidates[0], name)}{elsewhere}")]


def _repository(root: str, name: str, revision: str) -> Place:
    repository = os.path.join(root, name)
    if os.path.islink(repository) and os.path.basename(os.path.realpath(repository)) == name:
        # A container that gets the cache does not see where the link leads.
        repository = os.path.realpath(repository)
        root = os.path.dirname(repository)
    snapshots = os.path.join(repository, "snapshots")
    choice = snapshot.choose(revision, canonical.refs_in(repository), _folders(snapshots), canonical.MAIN)
    if not choice.name:
        return Place(root, repository=repository, problem=f"{repository}: {choice.problem}")
    problem = _unseen_by_engines(repository, revision or canonical.MAIN[0], choice.name)
    return Place(root, os.path.join(snapshots, choice.name), repository, choice.name, problem, choice.note)


def _unseen_by_engines(repository: str, asked: str, name: str) -> str:
    """Why huggingface_hub, which engines ask without a network, does not find the snapshot; it takes refs literally."""
    if asked == name:
        return ""
    ref = Path(repository, "refs", asked)
    if not ref.is_file():
        return f"without {ref} no engine finds the snapshot (set serving_model_revision: {name})"
    if ref.read_bytes() != name.encode():
        return f"{ref} holds more than the snapshot's name, so no engine finds it (printf %s {name} > {ref})"
    return ""


def _of_modelscope(model: str, candidates: list[str], revision: str) -> list[Place]:
    found = {place.root: place for root in candidates for place in _modelscope(root, model, revision)}
    if not found:
        place = modelscope_cache.new_folder(candidates[0], model)
        return [Place(place, problem=f"no folder {place}, nor in any other place where ModelScope keeps models")]
    # The newest comes first, and those that are no folder last.
    places = sorted(found.values(), key=lambda place: _modified(place.path), reverse=True)
    if len(places) == 1:
        return places
    note = f"there are {len(places)} copies, the newest whole one counts: {', '.join(sorted(found))}"
    return [_noted(place, note) for place in places]


def _modelscope(root: str, model: str, revision: str) -> Iterator[Place]:
    """The places of a model in one root: the real folders, however many links lead to them."""
    for folder in filter(os.path.isdir, modelscope_cache.folders(root, model)):
        real = os.path.realpath(folder)
        note = f"ModelScope does not say whether this is revision {revision}" if revision else ""
        yield Place(real, real, note=note)
    snapshots = modelscope_cache.snapshots(root, model)
    if os.path.isdir(snapshots):
        choice = snapshot.choose(revision, {}, _folders(snapshots), modelscope_cache.DEFAULT_REVISIONS)
        real = os.path.realpath(os.path.join(snapshots, choice.name))
        problem = f"{snapshots}: {choice.problem}" if choice.problem else ""
        yield Place(real, real if choice.name else "", "", choice.name, problem, choice.note)


def _modified(folder: str) -> float:
    """Time of the newest file in a folder; 0 where there is none."""
    if not folder:
        return 0
    with os.scandir(folder) as entries:
        return max((entry.stat(follow_symlinks=False).st_mtime for entry in entries), default=0)


def _noted(place: Place, note: str) -> Place:
    notes = "; ".join(filter(None, (place.note, note)))
    return Place(place.root, place.path, place.repository, place.revision, place.problem, notes)


def _folders(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir())
