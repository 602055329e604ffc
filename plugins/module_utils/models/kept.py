# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest that is kept beside a model, so that its files are hashed once: an edge, it reads and writes that file.

It vouches for a file as long as its size and its time of change are those that it had then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import hub_cache, manifest
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_whole

# Size in bytes and time of change in nanoseconds of each file, by path.
Seen = dict[str, list[int]]


def path_of(root: str, hub: str, model: str, revision: str) -> str:
    """Where a model's manifest is kept.

    >>> path_of("/data/tiny", "path", "/data/tiny", "")
    '/data/.dgxspark-serving.tiny.json'

    :param root: the Hugging Face cache for ``huggingface``, otherwise the model's folder
    """
    if hub == HUGGING_FACE:
        return os.path.join(root, hub_cache.folder(model), manifest.OURS, f"{revision}.json")
    folder, name = os.path.split(os.path.normpath(root))
    return os.path.join(folder, f"{manifest.OURS}.{name}.json")


def load(path: str) -> dict[str, Any] | None:
    """A kept record, ``{"manifest", "seen"}``; None when there is none, or none that can be read."""
    try:
        with open(path, encoding="utf-8") as stream:
            record = json.load(stream)
        return {"manifest": manifest.parse(record["manifest"]), "seen": dict(record["seen"])}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def seen(root: str, entries: Iterable[Mapping[str, Any]]) -> Seen:
    """How the files among the entries look now; one that is not there is left out."""
    return seen_files(root, (entry["path"] for entry in entries if "size" in entry))


def seen_files(root: str, paths: Iterable[str]) -> Seen:
    """As :func:`seen`, for paths."""
    found: Seen = {}
    for path in paths:
        with suppress(OSError):
            there = os.stat(os.path.join(root, path))
            found[path] = [there.st_size, there.st_mtime_ns]
    return found


def vouched(record: Mapping[str, Any] | None, now: Seen) -> dict[str, str]:
    """SHA-256, by path, of the files that did not change since the record was made."""
    return {path: sha256 for path, sha256 in expected(record, now).items() if record["seen"].get(path) == now[path]}


def expected(record: Mapping[str, Any] | None, now: Seen) -> dict[str, str]:
    """SHA-256, by path, that the files had which have their size still."""
    known = manifest.files(record["manifest"]) if record else {}
    return {path: known[path]["sha256"] for path in now if path in known and known[path]["size"] == now[path][0]}


def digest(root: str, hub: str, model: str, revision: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """Digest of the kept manifest; empty when there is none or the model is no longer what it says.

    :param entries: the model's canonical entries
    """
    record = load(path_of(root, hub, model, revision))
    if record is None or manifest.fingerprint(record["manifest"]["entries"]) != manifest.fingerprint(entries):
        return ""
    now = seen(root, entries)
    return manifest.digest(record["manifest"]) if len(vouched(record, now)) == len(now) else ""


def write(root: str, made: Mapping[str, Any], now: Seen) -> str:
    """Keep a manifest.

    :param now: how the files looked before they were hashed
    :return: why it could not be kept, in a sentence; empty when it is
    """
    path = path_of(root, made["hub"], made["model"], made["revision"])
    try:
        write_whole(Path(path), json.dumps({"manifest": made, "seen": now}, separators=(",", ":")).encode())
    except OSError as error:
        return f"The manifest cannot be kept as {path} ({error.strerror}), so the files are hashed again each time."
    return ""
