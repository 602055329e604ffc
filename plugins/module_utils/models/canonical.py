# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Walk a model's files into canonical entries: an edge, it reads folders, links, sizes, and what ``refs`` name.

An entry is ``{"path", "size"}`` for a file or ``{"path", "link"}`` for a link; paths are relative to the root. The same
model has the same entries wherever its cache lies, whether its blobs are shared with others, and however links were
written: those inside become relative, those that lead out become the file.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models.manifest import OURS
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE

# The ref that is meant when nobody names one.
MAIN = ("main",)
# What download tools keep for themselves in a model's folder; it differs from host to host.
_NOT_THE_MODELS = frozenset({".cache", ".git", ".locks", ".no_exist", "._____temp", ".msc", ".mdl", ".mv"})
UNFINISHED = ".incomplete"


class BrokenModel(ValueError):
    """Files of the model that nobody could copy; the text names all of them."""


@dataclass(frozen=True)
class Survey:
    """What lies there.

    :ivar entries: canonical, sorted by path
    :ivar broken: for each path that cannot be copied, why
    """

    entries: list[dict[str, Any]]
    broken: dict[str, str]


def walk(root: str, path: str, hub: str, refs: Iterable[str] = MAIN) -> list[dict[str, Any]]:
    """Canonical entries of a model, sorted by path.

    :param root: the Hugging Face cache for ``huggingface``, otherwise the model's folder
    :param path: the folder with the model's files: the snapshot for ``huggingface``, otherwise the same as root
    :param refs: names by which the snapshot may be asked for; those that are refs to it belong to the model
    :raises BrokenModel: a link leads nowhere, in a circle, or to what is no file
    :raises OSError: a folder cannot be read
    """
    found = survey(root, path, hub, refs)
    if found.broken:
        raise BrokenModel("; ".join(f"{name} {why}" for name, why in sorted(found.broken.items())))
    return found.entries


def survey(root: str, path: str, hub: str, refs: Iterable[str] = MAIN) -> Survey:
    """As :func:`walk`, but what is broken is told beside what is there. A folder that is not there has no entries.

    :raises OSError: a folder cannot be read
    """
    if hub != HUGGING_FACE:
        walker = _Walker({os.path.realpath(root): ""})
        walker.folder(root, "", skip=_NOT_THE_MODELS)
        return walker.result()
    # Every part may be a link to another disk. What lies outside, such as the blobs that huggingface_hub shares between
    # repositories, is taken in: a copy of the shared store without its bookkeeping may be deleted with another model.
    snapshot = posixpath.join(*os.path.normpath(path).split("/")[-3:])
    repository = snapshot.split("/", 1)[0]
    parts = (repository, f"{repository}/blobs", f"{repository}/snapshots", snapshot)
    walker = _Walker({os.path.realpath(os.path.join(root, part)): part for part in parts})
    walker.folder(os.path.join(root, snapshot), snapshot)
    revision = posixpath.basename(snapshot)
    targets = refs_in(os.path.join(root, repository))
    for name in {name for name in refs if targets.get(name) == revision}:
        walker.one(os.path.join(root, repository, "refs", name), f"{repository}/refs/{name}")
    return walker.result()


def refs_in(repository: str) -> dict[str, str]:
    """The refs of a repository's folder (``main``, ``refs/pr/1``) and the revision that each names.

    :raises OSError: one of them cannot be read
    """
    top = os.path.join(repository, "refs")
    found = {}
    for folder, _folders, names in os.walk(top, onerror=fail):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as stream:
                found[os.path.relpath(path, top)] = stream.read(1024).strip()
    return found


def fail(error: OSError) -> None:
    """For ``os.walk``: what is not there is empty, but what cannot be read is an error."""
    if not isinstance(error, FileNotFoundError):
        raise error


class _Walker:
    """Collects entries.

    :param places: real path of each folder that belongs to the root, and its path in the root
    """

    def __init__(self, places: dict[str, str]) -> None:
        # Longest first: the most special place wins.
        self._places = sorted(places.items(), key=lambda place: -len(place[0]))
        self._entries: dict[str, dict[str, Any]] = {}
        self._broken: dict[str, str] = {}

    def result(self) -> Survey:
        return Survey([self._entries[path] for path in sorted(self._entries)], self._broken)

    def folder(self, real: str, path: str, skip: Iterable[str] = (), above: tuple[str, ...] = ()) -> None:
        """All files below a folder; links to folders are followed.

        :param path: its path in the root
        :param skip: names that are left out at the top
        :param above: real paths of the folders that it is in
        """
        here = os.path.realpath(real)
        if here in above:
            self._broken[path] = "is a link to a folder that it lies in"
            return
        for entry in _listed(real):
            name = posixpath.join(path, entry.name)
            if entry.name in skip or entry.name.startswith(OURS) or entry.name.endswith(UNFINISHED):
                continue
            if os.path.isdir(entry.path):
                self.folder(entry.path, name, above=(*above, here))
            else:
                self.one(entry.path, name)

    def one(self, real: str, path: str) -> None:
        """A file or link, and what the link leads to."""
        while path not in self._entries:
            try:
                there = os.lstat(real)
            except FileNotFoundError:
                return
            target = self._inside(real) if stat.S_ISLNK(there.st_mode) else ""
            if not target:
                self._file(real, path)
                return
            self._entries[path] = {"path": path, "link": posixpath.relpath(target, posixpath.dirname(path) or ".")}
            if not os.path.exists(real):
                self._broken[path] = "is a link that leads nowhere"
            real, path = _target(real), target

    def _file(self, real: str, path: str) -> None:
        """A file, or a link out of the root, in whose place a copy gets the file."""
        try:
            there = os.stat(real)
        except OSError:
            self._broken[path] = "is a link that leads nowhere"
            return
        if not stat.S_ISREG(there.st_mode):
            self._broken[path] = "is no file"
            return
        self._entries[path] = {"path": path, "size": there.st_size}

    def _inside(self, link: str) -> str:
        """Where in the root a link leads; empty when it leads out of it."""
        target = _target(link)
        for place, path in self._places:
            if target.startswith(place.rstrip("/") + "/"):
                return posixpath.join(path, target[len(place.rstrip("/")) + 1 :])
        return ""


def _target(link: str) -> str:
    """Where a link leads: one step, with all folders on the way resolved."""
    target = os.path.join(os.path.realpath(os.path.dirname(link)), os.readlink(link))
    return os.path.join(os.path.realpath(os.path.dirname(target)), os.path.basename(target))


def _listed(folder: str) -> Iterator[os.DirEntry[str]]:
    if os.path.isdir(folder):
        with os.scandir(folder) as entries:
            yield from entries
