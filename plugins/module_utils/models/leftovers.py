# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies beside a model and nobody needs: an edge, it lists folders and asks for locks.

Nothing is a leftover that a running download may be at: what changed within a day, and, while a download is under way,
anything that it may be about to use.
"""

from __future__ import annotations

import fcntl
import os
import posixpath
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import canonical, hub_cache, kept, shared_blobs
from ansible_collections.dgxspark.serving.plugins.module_utils.models.manifest import OURS
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE

# Seconds.
DAY = 86400
# What is received under another name until it is whole, by huggingface_hub and by us.
PARTS = (canonical.UNFINISHED, ".part")
INCOMPLETE, STAGING, SNAPSHOT, BLOB, SHARED, MANIFEST = (
    "incomplete",
    "staging",
    "snapshot",
    "blob",
    "shared",
    "manifest",
)


@dataclass(frozen=True)
class Leftover:
    """A file or folder that nobody needs.

    :ivar path: absolute
    :ivar kind: ``incomplete``, ``staging``, ``snapshot``, ``blob``, ``shared`` (a file that only such blobs lead to) or
        ``manifest``
    :ivar size: bytes that its removal frees
    """

    path: str
    kind: str
    size: int


@dataclass(frozen=True)
class Model:
    """A model whose leftovers are looked for.

    :ivar root: the Hugging Face cache for ``huggingface``, otherwise the model's folder
    :ivar revisions: commits to keep; without any, no snapshot and no blob is a leftover
    """

    root: str
    hub: str
    model: str
    revisions: frozenset[str]

    @property
    def repository(self) -> str:
        """Its folder in a Hugging Face cache."""
        return os.path.join(self.root, hub_cache.folder(self.model))


def found(root: str, hub: str, model: str, revision: str, now: float) -> dict[str, Any]:
    """The leftovers of a model in short: ``incomplete`` (paths), ``snapshots`` (names), and all their ``bytes``.

    None when they cannot be read: that is no reason not to serve the model.
    """
    try:
        left = find(Model(root, hub, model, frozenset({revision} - {""})), now)
    except OSError:
        left = []
    return {
        "incomplete": [one.path for one in left if one.kind == INCOMPLETE],
        "snapshots": [os.path.basename(one.path) for one in left if one.kind == SNAPSHOT],
        "bytes": sum(one.size for one in left),
    }


def find(model: Model, now: float) -> list[Leftover]:
    """All leftovers of a model, in the order in which they can be removed.

    :param now: seconds since the epoch
    :raises OSError: a folder cannot be read
    """
    if model.hub != HUGGING_FACE:
        return list(_beside_folder(model.root, now))
    left = [*_parts(model.repository, now), *_staging(os.path.join(model.repository, OURS, "parts"), now)]
    if model.revisions and not under_way(model.root, model.model, now):
        snapshots = _old_snapshots(model)
        gone = {os.path.basename(one.path) for one in snapshots}
        left += [*snapshots, *_not_used(model, list(_old_blobs(model, gone, now))), *_old_manifests(model, gone)]
    return left


def under_way(root: str, model: str, now: float) -> bool:
    """Whether a download or a copy of a Hugging Face model seems to run: a file that grows, or a lock that is held."""
    repository = os.path.join(root, hub_cache.folder(model))
    blobs = os.path.join(repository, "blobs")
    unfinished = [os.path.join(blobs, name) for name in _names(blobs) if name.endswith(PARTS)]
    unfinished.append(os.path.join(repository, OURS, "parts"))
    if any(os.path.lexists(path) and now - _changed(path) < DAY for path in unfinished):
        return True
    locks = os.path.join(root, ".locks", hub_cache.folder(model))
    return any(_held(os.path.join(locks, name)) for name in _names(locks))


def _parts(repository: str, now: float) -> Iterator[Leftover]:
    blobs = os.path.join(repository, "blobs")
    locks = os.path.join(os.path.dirname(repository), ".locks", os.path.basename(repository))
    for name in _names(blobs):
        path = os.path.join(blobs, name)
        lock = os.path.join(locks, f"{name.split('.', 1)[0]}.lock")
        if name.endswith(PARTS) and now - _changed(path) >= DAY and not _held(lock):
            yield Leftover(path, INCOMPLETE, _size(path))


def _old_snapshots(model: Model) -> list[Leftover]:
    wanted = {*canonical.refs_in(model.repository).values(), *model.revisions}
    top = os.path.join(model.repository, "snapshots")
    # The files of a snapshot are links; what they lead to is counted where it lies.
    return [
        Leftover(os.path.join(top, name), SNAPSHOT, _size(os.path.join(top, name)))
        for name in _names(top)
        if name not in wanted
    ]


def _old_blobs(model: Model, gone: Collection[str], now: float) -> Iterator[Leftover]:
    """Blobs that only snapshots need which go, and old ones that none needs.

    :param gone: names of the snapshots that go
    """
    names = _names(os.path.join(model.repository, "snapshots"))
    needed = {blob for name in names if name not in gone for blob in _linked(model, name)}
    orphaned = {blob for name in gone for blob in _linked(model, name)} - needed
    blobs = os.path.join(model.repository, "blobs")
    for name in _names(blobs):
        path = os.path.join(blobs, name)
        old = now - _changed(path) >= DAY and not name.endswith(PARTS)
        if name not in needed and (name in orphaned or old):
            yield Leftover(path, BLOB, _size(path))


def _not_used(model: Model, blobs: list[Leftover]) -> list[Leftover]:
    """Those blobs that no other repository links to, and what is shared and only they lead to."""
    if not blobs:
        return []
    try:
        used = shared_blobs.users(model.root)
    except OSError:
        return []  # another repository may need any of them
    top, repository = (os.path.realpath(os.path.join(model.repository, part)) for part in ("blobs", ""))
    ours = tuple(os.path.realpath(os.path.join(model.repository, part)) + "/" for part in ("blobs", "snapshots"))
    free = {}
    for blob in blobs:
        name = os.path.basename(blob.path)
        links = used.get(f"{top}/{name}", set()) | used.get(f"{repository}/blobs/{name}", set())
        if all(link.startswith(ours) for link in links):
            free[f"{top}/{name}"] = blob
    shared = [Leftover(path, SHARED, _size(path)) for path in shared_blobs.only_of(model.root, free, used)]
    return [*free.values(), *shared]


def _linked(model: Model, snapshot: str) -> set[str]:
    """Names of the blobs that a snapshot needs, also of those that are not there."""
    path = os.path.join(model.repository, "snapshots", snapshot)
    top = f"{os.path.basename(model.repository)}/blobs/"
    needed = set()
    for entry in canonical.survey(model.root, path, HUGGING_FACE).entries:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(entry["path"]), entry.get("link", "")))
        needed |= {one[len(top) :].split("/", 1)[0] for one in (entry["path"], target) if one.startswith(top)}
    return needed


def _old_manifests(model: Model, gone: Collection[str]) -> Iterator[Leftover]:
    top = os.path.join(model.repository, OURS)
    snapshots = {name for name in _names(os.path.join(model.repository, "snapshots")) if name not in gone}
    for name in _names(top):
        if name.endswith(".json") and name[: -len(".json")] not in snapshots:
            yield Leftover(os.path.join(top, name), MANIFEST, _size(os.path.join(top, name)))


def _beside_folder(root: str, now: float) -> Iterator[Leftover]:
    folder, name = os.path.split(os.path.normpath(root))
    yield from _staging(os.path.join(folder, f"{OURS}.{name}.part"), now)
    yield from _staging(os.path.join(root, f"{OURS}.part"), now)
    record = kept.path_of(root, "", "", "")
    if os.path.lexists(record) and not os.path.isdir(root):
        yield Leftover(record, MANIFEST, _size(record))


def _staging(path: str, now: float) -> Iterator[Leftover]:
    """What an interrupted copy has left, when nothing in it changed within a day."""
    if os.path.lexists(path) and now - _changed(path) >= DAY:
        yield Leftover(path, STAGING, _size(path))


def _held(lock: str) -> bool:
    """Whether somebody holds a lock file; one that this user must not open is taken for held."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _names(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def _all(path: str) -> Iterator[os.stat_result]:
    """The path itself and, of a folder, all that is in it; links are not followed."""
    with suppress(FileNotFoundError):
        yield os.lstat(path)
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            with suppress(FileNotFoundError):
                yield os.lstat(os.path.join(folder, name))


def _changed(path: str) -> float:
    """When something in it changed last, in seconds since the epoch."""
    return max((there.st_mtime for there in _all(path)), default=0.0)


def _size(path: str) -> int:
    """Bytes of the files in it that have no other name."""
    return sum(there.st_size for there in _all(path) if there.st_nlink == 1 and not stat.S_ISDIR(there.st_mode))
