# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which weight files a model wants, and which of them are not there. Rules: field faults M01 and M06."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# What engines read first; with it they take no weight file that it does not name.
MAIN_INDEX = "model.safetensors.index.json"
INDEX_ENDS = (".safetensors.index.json", ".bin.index.json")
# So many file names are given in one problem.
_MOST_NAMES = 3
_ENDS = (".safetensors", ".gguf", ".bin", ".pt", ".pth")
_NO_WEIGHTS = re.compile(r"(training_args|optimizer|scheduler|scaler|rng_state|trainer_state)\b")
_PART = re.compile(r"(.*-)(\d+)(-of-)(\d+)(\.\w+)", re.ASCII)
# Mistral's own files beside those of the index.
_SECOND_FORM = "consolidated"


@dataclass(frozen=True)
class Weights:
    """What there is to say about a model's weight files.

    :ivar files: those that an engine loads and that are there, sorted
    :ivar problems: in words
    :ivar notes: what is no fault
    :ivar missing: bytes that are not there; None where that is not known
    """

    files: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: int | None = 0


@dataclass(frozen=True)
class _Index:
    """An index: its path, the files that it names, and the bytes of all tensors where it says so."""

    path: str
    wanted: list[str]
    total: int | None


def some(names: Iterable[str]) -> str:
    """A few names, and how many more there are."""
    listed = sorted(names)
    rest = len(listed) - _MOST_NAMES
    return ", ".join(listed[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def is_weights(path: str) -> bool:
    """Whether a file holds weights, by its name."""
    name = posixpath.basename(path)
    return name.endswith(_ENDS) and not _NO_WEIGHTS.match(name)


def judge(sizes: Mapping[str, int | None], indexes: Mapping[str, Mapping[str, Any]]) -> Weights:
    """Hold the weight files that are there against what indexes and the files' own names ask for.

    :param sizes: each file of the model and its size in bytes, links followed; None for a link that leads nowhere
    :param indexes: each index of the model by its path
    :raises ValueError: an index is none
    """
    read = [_read(path, content) for path, content in sorted(indexes.items())]
    used, unused = _split(read, sizes)
    named = {name for index in used for name in index.wanted}
    folders = {posixpath.dirname(index.path) for index in used}
    others = [name for name in sizes if is_weights(name) and name not in named]
    extra = [name for name in others if posixpath.dirname(name) in folders and not _is_second_form(name)]
    files = sorted({*(name for name in named if name in sizes), *others} - set(extra))
    lost = {index.path: [name for name in index.wanted if name not in sizes] for index in used}
    parts = _lost_parts(set(files) - named)
    problems = [
        f"{len(names)} of the weight files in {path} not there: {some(names)}" for path, names in lost.items() if names
    ]
    if parts:
        problems.append(f"{len(parts)} of the weight files not there: {some(parts)}")
    if not named and not any("/" not in name for name in files):
        problems.append("no weight files (*.safetensors, *.bin or *.gguf)")
    empty = [name for name in files if sizes[name] == 0]
    if empty:
        problems.append(f"empty weight files: {some(empty)}")
    notes = [f"none of the files that {index.path} names is there, but another set is whole" for index in unused]
    if extra:
        notes.append(f"weight files that no index names, so that no engine loads them: {some(extra)}")
    whole = not problems and all(sizes[name] is not None for name in files)
    return Weights(files, problems, notes, 0 if whole else _missing(used, sizes, bool(parts)))


def _read(path: str, content: Mapping[str, Any]) -> _Index:
    try:
        files = {str(name) for name in content["weight_map"].values()}
        total = (content.get("metadata") or {}).get("total_size")
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is no index of weights") from None
    folder = posixpath.dirname(path)
    wanted = sorted(posixpath.join(folder, name) for name in files)
    return _Index(path, wanted, int(total) if isinstance(total, (int, float)) else None)


def _split(indexes: list[_Index], sizes: Mapping[str, int | None]) -> tuple[list[_Index], list[_Index]]:
    """Indexes that count, and those of a second form of the same weights, of which nothing was downloaded."""
    whole = [index for index in indexes if all(sizes.get(name) for name in index.wanted)]
    single = any(is_weights(name) and "/" not in name for name in sizes)
    unused = [
        index
        for index in indexes
        if not any(name in sizes for name in index.wanted) and (whole or (single and index.path != MAIN_INDEX))
    ]
    return [index for index in indexes if index not in unused], unused


def _is_second_form(path: str) -> bool:
    return posixpath.basename(path).startswith(_SECOND_FORM)


def _lost_parts(names: Iterable[str]) -> list[str]:
    """Files that are not there although the others of ``-00001-of-00003`` are."""
    there = set(names)
    wanted = set()
    for match in filter(None, map(_PART.fullmatch, there)):
        start, number, of, count, end = match.groups()
        # A count that no model has is no count.
        if int(count) < 10_000:
            wanted |= {f"{start}{part:0{len(number)}d}{of}{count}{end}" for part in range(1, int(count) + 1)}
    return sorted(wanted - there)


def _missing(indexes: list[_Index], sizes: Mapping[str, int | None], parts: bool) -> int | None:
    """Bytes that the indexes say are missing; the headers of the files are left out, they are small."""
    missing = 0
    for index in indexes:
        if index.total is None:
            return None
        missing += max(0, index.total - sum(sizes.get(name) or 0 for name in index.wanted))
    return missing if indexes and not parts else None
