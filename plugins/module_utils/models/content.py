# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the files of a model are, and what is wrong with them: an edge, it reads the model's folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import (
    config as model_config,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.models import (
    files,
    hub_cache,
    owners,
    processor,
    tree,
    weights,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.models.places import Place
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import ModelReference

_QUANTIZATION = "hf_quant_config.json"


@dataclass
class Content:
    """The files of a model.

    :ivar size: bytes that there are, each file counted once
    :ivar missing: bytes that are not; None where that is not known
    :ivar problems: what keeps an engine from serving it, in words
    :ivar notes: what does not
    :ivar facts: what the configuration says of the model; empty where there is none
    :ivar completable: whether nothing but small files is missing, as a model that it was made from may have them (M10)
    """

    size: int = 0
    missing: int | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    completable: bool = False


def read(model: ModelReference, place: Place, user: owners.Login) -> Content:
    """Look at all files of a model; of the weights only the headers are read.

    :param user: who copies the model, and may not be who looks
    :raises OSError: a folder cannot be read
    """
    entries = tree.files(place.path)
    content = Content(size=sum({entry.real: entry.size or 0 for entry in entries}.values()))
    dangling = [entry.path for entry in entries if entry.size is None]
    if dangling:
        copy = f"rsync -aH --copy-unsafe-links HOST:{place.repository or place.path}/ {place.repository or place.path}/"
        content.problems.append(
            f"links that lead nowhere: {weights.some(dangling)} (copy it anew from a host that has it: {copy})"
        )
    content.problems += _what_the_container_sees(entries, model, place) + _unreadable(entries, place, user)
    pointers = [entry.path for entry in entries if tree.is_pointer(entry)]
    if pointers:
        content.problems.append(
            f"notes of git-lfs in place of files: {weights.some(pointers)} (git -C {place.path} lfs pull)"
        )
    _contents(content, {entry.path: entry for entry in entries if entry.path not in pointers}, pointers, place, model)
    return content


def _contents(
    content: Content, entries: Mapping[str, tree.Entry], pointers: list[str], place: Place, model: ModelReference
) -> None:
    """What configuration, indexes and headers say."""

    def parsed(path: str) -> dict[str, Any] | None:
        """What a file holds; None when it is not there, or cannot be read, which is a problem then."""
        if path not in entries or entries[path].size is None:
            return None
        try:
            return tree.read_json(os.path.join(place.path, path))
        except ValueError as error:
            content.problems.append(str(error))
        except PermissionError:
            # Told already: the user cannot read it.
            pass
        return None

    sizes = {**{path: entry.size for path, entry in entries.items()}, **dict.fromkeys(pointers, 1)}
    config = parsed("config.json") or {}
    indexes = {path: parsed(path) for path in sizes if path.endswith(weights.INDEX_ENDS)}
    try:
        found = weights.judge(sizes, {path: index for path, index in indexes.items() if index is not None})
    except ValueError as error:
        content.problems.append(str(error))
        return
    base = processor.base_model(config, tree.read_card(place.path), model.text)
    names = [path for path in sizes if "/" not in path]
    headers, broken = _headers(entries[path] for path in found.files if path in entries)
    content.problems += found.problems
    if broken:
        content.problems.append(f"broken weight files: {weights.some(broken)}")
    small = files.problems(names, found.files, config, base)
    content.completable = bool(small and config) and not content.problems
    content.problems += small
    content.notes += found.notes
    lost_links = any(sizes[path] is None for path in found.files)
    if not content.problems:
        content.missing = 0
    elif found.problems or lost_links:
        content.missing = found.missing
    if config:
        # Of half a model the headers say too little.
        seen = {} if content.problems else headers
        content.facts = model_config.facts(config, seen, parsed(_QUANTIZATION))


def _headers(entries: Iterable[tree.Entry]) -> tuple[dict[str, Mapping[str, Any]], list[str]]:
    """The headers of all safetensors files, and the files that are broken."""
    headers, broken = {}, []
    for entry in entries:
        if entry.size and entry.path.endswith(".safetensors"):
            try:
                headers[entry.path] = tree.header(entry)
            except ValueError as error:
                broken.append(f"{entry.path} ({error})")
            except PermissionError:
                # Told already: the user cannot read it.
                continue
            except OSError as error:
                broken.append(f"{entry.path} ({error.strerror})")
    return headers, broken


def _what_the_container_sees(entries: Iterable[tree.Entry], model: ModelReference, place: Place) -> list[str]:
    """Links that work on the host alone (field fault M16): the container has only the mount, and that elsewhere."""
    base = os.path.realpath(place.root)
    there = [entry for entry in entries if entry.size is not None]
    outside = [entry.path for entry in there if not entry.real.startswith(f"{base}/")]
    absolute = [entry.path for entry in there if entry.absolute and base != model.mount and entry.path not in outside]
    found = []
    if outside:
        instead = hub_cache.settings_for(place.path) if model.is_path else ""
        remedy = f"set {instead}" if instead else "put the files in their place"
        found.append(
            f"links out of {place.root}, which is all that the container gets: {weights.some(outside)} ({remedy})"
        )
    if absolute:
        command = f"find {place.repository or place.path} -type l -lname '/*' -exec sh -c "
        command += """'ln -sfrn "$(readlink "$1")" "$1"' - {} ';'"""
        found.append(f"absolute links, which lead nowhere in the container: {weights.some(absolute)} ({command})")
    return found


def _unreadable(entries: Iterable[tree.Entry], place: Place, user: owners.Login) -> list[str]:
    """Files that the user cannot copy, even if the container's root can read them (field fault M02)."""
    folder = place.repository or place.path
    parts = [os.path.join(folder, part) for part in ("blobs", "refs", "snapshots", "refs/main")]
    files = {entry.real for entry in entries if entry.size is not None}
    found = owners.unreadable(sorted({folder, place.path, *parts, *files}), user)
    if not found:
        return []
    names = weights.some(path.removeprefix(f"{folder}/") for path in found)
    return [f"{user.name} cannot read {names} (sudo chown -R {user.name}: {folder})"]
