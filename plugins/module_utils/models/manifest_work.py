# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the manifest of a model on this host, or hold the model against one: an edge, it reads the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.models import (
    canonical,
    compare,
    hashing,
    hub_cache,
    kept,
    manifest,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.models.compare import Difference
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Place:
    """Where a model lies.

    :ivar root: the Hugging Face cache for ``huggingface``, otherwise the model's folder
    :ivar path: the folder with its files
    :ivar refs: names by which its revision may be asked for
    """

    model: str
    hub: str
    root: str
    path: str
    revision: str
    refs: tuple[str, ...] = canonical.MAIN


def make(place: Place, again: bool, tell: Tell) -> dict[str, Any]:
    """Have the manifest of a complete model, and keep it.

    Large blobs of a hub have their SHA-256 as name. The manifest says that of them, whatever they contain.

    :param again: also hash what the kept manifest or a blob's name vouches for
    :return: ``manifest``; ``digest``; ``wrong``, paths that have their size but not the content that their name or the
        kept manifest says; ``missing`` and ``extra``, empty; ``made``, whether it was kept anew; ``notes``
    :raises WorkFailed: the model cannot be read, or changes meanwhile
    """
    try:
        entries = canonical.walk(place.root, place.path, place.hub, place.refs)
    except (canonical.BrokenModel, OSError) as error:
        raise WorkFailed(f"{place.model} cannot be copied from {place.path}: {error}.") from error
    path = kept.path_of(place.root, place.hub, place.model, place.revision)
    record = kept.load(path)
    now = kept.seen(place.root, entries)
    names = _names(now)
    known = {**(kept.expected if again else kept.vouched)(record, now), **names}
    read = _hashes(place.root, now if again else now.keys() - known.keys(), now, tell)
    made = manifest.make(place.model, place.hub, place.revision, entries, {**read, **known})
    wrong = sorted(path for path in read if path in known and read[path] != known[path])
    new = not wrong and record != {"manifest": made, "seen": now}
    note = kept.write(place.root, made, now) if new else ""
    unlike = [name for name in wrong if name not in names]
    if unlike:
        note = f"{compare.some(unlike)}: not the content that {path} says. If the change is meant, remove that file."
    return _result(made, Difference(wrong_content=wrong), new and not note, note)


def hold(place: Place, wanted: Mapping[str, Any], again: bool, tell: Tell) -> dict[str, Any]:
    """Hold what lies on this host against the manifest of another one.

    :param wanted: as :func:`manifest.parse` gives it
    :param again: hash all files; otherwise sizes and links count, and what the kept manifest vouches for
    :return: as :func:`make` does, with the wanted manifest; ``wrong``, ``missing`` and ``extra`` are held against it
    :raises WorkFailed: the files cannot be read
    """
    model, hub, revision = wanted["model"], wanted["hub"], wanted["revision"]
    path = place.root
    if hub == HUGGING_FACE:
        path = os.path.join(place.root, hub_cache.folder(model), "snapshots", revision)
    try:
        entries = canonical.survey(place.root, path, hub, _refs(wanted)).entries
    except OSError as error:
        raise WorkFailed(f"{model} cannot be read in {place.root}: {error}.") from error
    now = kept.seen(place.root, entries)
    record = kept.load(kept.path_of(place.root, hub, model, revision))
    hashes = kept.vouched(record, now)
    if again:
        sizes = {path: entry["size"] for path, entry in manifest.files(wanted).items()}
        hashes = _hashes(place.root, [path for path in now if sizes.get(path) == now[path][0]], now, tell)
    found = compare.compare(wanted, entries, hashes)
    # Only what was read makes a record: a size is no proof.
    proven = not (found.wrong or found.missing or found.extra) and hashes.keys() == now.keys()
    new = proven and record != {"manifest": wanted, "seen": now}
    note = kept.write(place.root, wanted, now) if new else ""
    return _result(wanted, found, new and not note, note)


def _result(made: Mapping[str, Any], found: Difference, new: bool, note: str) -> dict[str, Any]:
    return {
        "manifest": made,
        "digest": manifest.digest(made),
        "wrong": found.wrong,
        "missing": found.missing,
        "extra": found.extra,
        "problems": found.sentences(),
        "made": new,
        "notes": [note] if note else [],
    }


def _refs(wanted: Mapping[str, Any]) -> list[str]:
    """Names of the refs in a manifest."""
    top = f"{hub_cache.folder(wanted['model'])}/refs/"
    return [entry["path"][len(top) :] for entry in wanted["entries"] if entry["path"].startswith(top)]


def _names(paths: Iterable[str]) -> dict[str, str]:
    """The SHA-256 that hub blobs have as name, by path."""
    return {path: name for path in paths if (name := manifest.named_hash(path))}


def _hashes(root: str, paths: Iterable[str], before: kept.Seen, tell: Tell) -> dict[str, str]:
    """SHA-256 by path.

    :param before: how the files looked when it was decided what to read
    """
    hashes, broken = hashing.sha256_of(root, paths, tell)
    if broken:
        said = "; ".join(f"{path} ({why})" for path, why in sorted(broken.items()))
        raise WorkFailed(f"Files in {root} cannot be read by this user: {said}.")
    changed = sorted(path for path, look in kept.seen_files(root, hashes).items() if look != before[path])
    if changed:
        raise WorkFailed(
            f"Changed while they were read: {compare.some(changed)}. Run again when nothing writes to {root}."
        )
    return hashes
