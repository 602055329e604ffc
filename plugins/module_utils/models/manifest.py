# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model consists of, file by file, so that it can be copied and held against other hosts. Pure.

A manifest is plain data: ``{"format", "model", "hub", "revision", "entries"}``. Its entries are those of ``canonical``,
sorted by path, and each file has a ``sha256`` beside its size. One from another host is judged before it is used.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import hub_cache
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE, MODEL_SCOPE, PATH

FORMAT = 1
HUBS = (HUGGING_FACE, MODEL_SCOPE, PATH)
# Whatever we put beside a model begins so.
OURS = ".dgxspark-serving"
MOST_ENTRIES = 100_000
# Bytes; the largest models have files of some 10 GB.
LARGEST_FILE = 16 * 10**12
# So many faults are told.
MOST_FAULTS = 10

_SHA256 = re.compile(r"[0-9a-f]{64}")
_REVISION = re.compile(r"[\w][\w.-]*", re.ASCII)
# The hub names the blob of a large file by its SHA-256; that of a small file has 40 digits, another hash.
_NAMED_BLOB = re.compile(r"models--[^/]+/blobs/([0-9a-f]{64})")


def make(
    model: str, hub: str, revision: str, entries: Iterable[Mapping[str, Any]], hashes: Mapping[str, str]
) -> dict[str, Any]:
    """A manifest.

    :param entries: as ``canonical.walk`` gives them
    :param hashes: SHA-256 of each file, by path
    """
    full = [
        {**entry, "sha256": hashes[entry["path"]]} if "size" in entry else dict(entry)
        for entry in sorted(entries, key=lambda entry: entry["path"])
    ]
    return {"format": FORMAT, "model": model, "hub": hub, "revision": revision, "entries": full}


def digest(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of what a model consists of, as hex; the same on all hosts that have the same files."""
    return _hash_of(manifest["entries"])


def fingerprint(entries: Iterable[Mapping[str, Any]]) -> str:
    """As :func:`digest`, but of names, sizes and links alone: for entries whose files nobody has read."""
    return _hash_of({name: entry[name] for name in entry if name != "sha256"} for entry in entries)


def named_hash(path: str) -> str:
    """The SHA-256 that a hub's blob has for its name; empty when its name is none.

    Only blobs inside a repository: in the store that repositories share, names are hashes of another kind.
    """
    match = _NAMED_BLOB.fullmatch(path)
    return match.group(1) if match else ""


def files(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries that are files, by path."""
    return {entry["path"]: entry for entry in manifest["entries"] if "size" in entry}


def parse(data: Any) -> dict[str, Any]:
    """Read a manifest that somebody else made.

    :raises ValueError: it is none, or it could write outside the model's folder; the text names the faults
    """
    found = list(faults(data))
    if found:
        rest = len(found) - MOST_FAULTS
        raise ValueError("; ".join(found[:MOST_FAULTS]) + (f"; and {rest} more" if rest > 0 else ""))
    return {**data, "entries": sorted(data["entries"], key=lambda entry: entry["path"])}


def faults(data: Any) -> Iterable[str]:
    """All that is wrong with a manifest, in words."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        shown = data.get("format") if isinstance(data, dict) else data
        yield f"the manifest has format {str(shown)[:40]!r}, wanted {FORMAT}"
        return
    model, hub, revision, entries = (data.get(name) for name in ("model", "hub", "revision", "entries"))
    if not isinstance(model, str) or not model or not _printable(model):
        yield f"the manifest's model is {str(model)[:40]!r}"
    if hub not in HUBS:
        yield f"the manifest's hub is {str(hub)[:40]!r}, wanted one of {', '.join(HUBS)}"
    if not isinstance(revision, str) or ((revision or hub == HUGGING_FACE) and not _REVISION.fullmatch(revision)):
        yield f"the manifest's revision is {str(revision)[:40]!r}"
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_ENTRIES:
        yield f"the manifest's entries are no list of 1 to {MOST_ENTRIES}"
        return
    top = f"{hub_cache.folder(model)}/" if hub == HUGGING_FACE and isinstance(model, str) else ""
    yield from _entry_faults(entries, top)


def _entry_faults(entries: list[Any], top: str) -> Iterable[str]:
    """:param top: what each path must begin with"""
    paths: set[str] = set()
    links: dict[str, str] = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
            yield f"entry {number} has no path"
            continue
        path = entry["path"]
        if not _inside(path) or not path.startswith(top):
            yield f"{path[:200]!r} is no path inside the model's folder"
        elif path in paths:
            yield f"{path!r} is there twice"
        paths.add(path)
        if isinstance(entry.get("link"), str) and entry.keys() == {"path", "link"}:
            links[path] = posixpath.normpath(posixpath.join(posixpath.dirname(path), entry["link"]))
        elif entry.keys() != {"path", "size", "sha256"}:
            yield f"{path[:200]!r} is neither a file with size and sha256 nor a link"
        else:
            yield from _file_faults(path, entry["size"], entry["sha256"])
    for path, target in links.items():
        if target not in paths:
            yield f"the link {path[:200]!r} leads to no file of the model"
    for path in paths:
        if any(parent in paths for parent in _parents(path)):
            yield f"{path[:200]!r} lies in what is a file"


def _file_faults(path: str, size: Any, sha256: Any) -> Iterable[str]:
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= LARGEST_FILE:
        yield f"{path[:200]!r} has the size {str(size)[:40]!r}"
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        yield f"{path[:200]!r} has the sha256 {str(sha256)[:80]!r}"


def _inside(path: str) -> bool:
    """Whether it names a place below the folder that it is relative to, and nothing of ours."""
    parts = path.split("/")
    return (
        _printable(path)
        and all(part not in ("", ".", "..") and len(part.encode()) <= 255 for part in parts)
        and not any(part.startswith(OURS) for part in parts)
    )


def _printable(text: str) -> bool:
    """No NUL, newline or other control character, and nothing that is no UTF-8."""
    return not any(ord(sign) < 32 or ord(sign) == 127 or 0xD800 <= ord(sign) <= 0xDFFF for sign in text)


def _parents(path: str) -> Iterable[str]:
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _hash_of(entries: Iterable[Mapping[str, Any]]) -> str:
    ordered = sorted((dict(entry) for entry in entries), key=lambda entry: entry["path"])
    return hashlib.sha256(json.dumps(ordered, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
