# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look for a model on this host: an edge, it reads folders."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import disk, sizes
from ansible_collections.dgxspark.serving.plugins.module_utils.models import (
    canonical,
    content,
    kept,
    leftovers,
    manifest,
    owners,
    places,
    reference,
    tree,
    weights,
)


@dataclass(frozen=True)
class Found:
    """A model on this host.

    :ivar model: as it was asked for
    :ivar hub: ``huggingface``, ``modelscope`` or ``path``
    :ivar root: what is copied: a Hugging Face cache, or the model's own folder; where to put it when it is not there
    :ivar path: the folder that holds its files; empty when there is none
    :ivar mount: what a container must be given to see it
    :ivar container_path: what the engine is given as its model
    :ivar revision: the snapshot, where the layout has any
    :ivar problems: what is missing or broken, in words
    :ivar notes: what the user should know though it is no fault
    :ivar missing: bytes that are missing; None where that is not known
    :ivar free: bytes free on the root's disk; None where that is not known
    :ivar size: bytes that there are
    :ivar facts: what its configuration says of it
    :ivar fingerprint: changes with any name, size or link; empty when it is not whole
    :ivar manifest: digest of the manifest that is kept beside it and still true, else empty
    :ivar writable: whether the user that Ansible logs in as can write there
    :ivar leftovers: unfinished downloads, and snapshots that nothing names
    :ivar completable: whether only small files are missing, which a model that it was made from may have
    """

    model: str
    hub: str
    root: str
    path: str
    mount: str
    container_path: str
    revision: str = ""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: int | None = None
    free: int | None = None
    size: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    manifest: str = ""
    writable: bool = False
    leftovers: dict[str, Any] = field(default_factory=dict)
    completable: bool = False


def look(text: str, cache_dir: str, hub: str = reference.HUGGING_FACE, revision: str = "") -> Found:
    """Find a model and say what is missing from it; of contents only headers and configuration are read.

    :param cache_dir: the cache of the hub; empty for where the hub's own tools would look
    :param hub: the hub that an id belongs to
    :param revision: branch, tag or commit; empty for the one that the cache says is the default
    :raises ValueError: it is neither a path nor an id
    """
    model = reference.parse(text, hub)
    user = owners.login()
    first: Found | None = None
    refs = (*canonical.MAIN, revision)
    try:
        with _no_garbage():
            for place in places.find(model, cache_dir, revision, places.environment(), user.home):
                found = _judged(model, place, user, refs)
                if not found.problems:
                    return found
                first = first or found
    except OSError as error:
        first = first or _found(model, places.Place(model.text if model.is_path else cache_dir), [_unread(error)])
    return first or _found(model, places.Place(cache_dir), ["there is no place to look in"])


def login_home() -> str:
    """Home of the user that Ansible logs in as: under sudo, not root's."""
    return owners.login().home


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Headers make hundreds of thousands of objects that all stay: to look for garbage in them takes a third longer."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _judged(model: reference.ModelReference, place: places.Place, user: owners.Login, refs: tuple[str, ...]) -> Found:
    """All that there is to say about a model in one place.

    :param refs: names by which an engine may ask for the snapshot
    """
    free = disk.free(place.root)
    found = replace(
        _found(model, place, [place.problem] if place.problem else []),
        free=free,
        notes=[place.note] if place.note else [],
        writable=owners.writable(_written(place), user),
        leftovers=leftovers.found(place.root, model.hub, model.text, place.revision, time.time()),
    )
    if free is None:
        found.notes.append(f"the file system of {place.root} reports no size, so nobody knows how much is free")
    if place.path:
        found = _with_content(found, model, place, user, refs)
    found.notes.extend(_foreign(place, user))
    if found.problems:
        found.problems[:0] = _unfinished(found, place)
    return found


def _found(model: reference.ModelReference, place: places.Place, problems: list[str]) -> Found:
    """A model that is not looked at yet."""
    return Found(
        model.text, model.hub, place.root, place.path, place.root, model.argument, place.revision, problems=problems
    )


def _with_content(
    found: Found, model: reference.ModelReference, place: places.Place, user: owners.Login, refs: tuple[str, ...]
) -> Found:
    """What its files say; when it is whole, also what they all are."""
    try:
        there = content.read(model, place, user)
        problems = [*found.problems, *there.problems]
        survey = None if problems else canonical.survey(place.root, place.path, model.hub, refs)
    except OSError as error:
        return replace(found, problems=[_unread(error)])
    if survey:
        problems = [f"{path} {why}" for path, why in sorted(survey.broken.items())]
    entries = [] if problems or not survey else survey.entries
    return replace(
        found,
        problems=problems,
        notes=[*found.notes, *there.notes],
        missing=there.missing,
        size=there.size,
        facts=there.facts,
        completable=there.completable and not found.problems,
        fingerprint=manifest.fingerprint(entries) if entries else "",
        manifest=kept.digest(place.root, model.hub, model.text, place.revision, entries) if entries else "",
    )


def _unread(error: OSError) -> str:
    return f"cannot be read: {error.strerror}: {error.filename}"


def _written(place: places.Place) -> list[str]:
    """Folders that a copy of the model writes to."""
    parts = ("", "blobs", "refs", "snapshots")
    return [os.path.join(place.repository, part) for part in parts] if place.repository else [place.root]


def _foreign(place: places.Place, user: owners.Login) -> list[str]:
    """What of the model another user left in a cache, such as root in a container (field fault M02)."""
    if not place.repository or user.uid == 0:
        return []
    locks = os.path.join(place.root, ".locks", os.path.basename(place.repository))
    found = owners.foreign([*_written(place), place.path, locks], user)
    if not found:
        return []
    names = weights.some(path.removeprefix(f"{place.root}/") for path in set(found))
    folders = " ".join(path for path in (place.repository, locks) if os.path.isdir(path))
    owner = owners.name_of(os.stat(found[0]).st_uid)
    return [f"{user.name} cannot write {names}, which {owner} owns (sudo chown -R {user.name}: {folders})"]


def _unfinished(found: Found, place: places.Place) -> list[str]:
    """That a download was cut off, and whether the rest has room (field fault M08)."""
    folder = place.repository or place.path
    parts = tree.incomplete(folder) if folder else {}
    if not parts:
        return []
    names = weights.some(path.removeprefix(f"{folder}/") for path in parts)
    done = sum(parts.values())
    missing = "" if found.missing is None else f", {sizes.size(found.missing)} missing"
    free = "" if found.free is None else f", {sizes.size(found.free)} free"
    return [f"download unfinished: {names} ({sizes.size(done)} so far{missing}{free})"]
