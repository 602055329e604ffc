# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look for a model on this host: an edge, it reads folders."""

from __future__ import annotations

import json
import os
import pwd
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.models import files, hub_cache, reference


@dataclass(frozen=True)
class Found:
    """A model on this host.

    :ivar model: as it was asked for
    :ivar path: the folder that holds its files; empty when there is none
    :ivar mount: what a container must be given to see it: for a path the folder, for an id the whole cache
    :ivar problems: what is missing or broken, in words
    """

    model: str
    path: str
    mount: str
    problems: list[str] = field(default_factory=list)


def look(text: str, cache_dir: str) -> Found:
    """Find a model and say what is missing from it; contents are not read.

    :param cache_dir: the Hugging Face cache; empty for where ``huggingface_hub`` would look
    :raises ValueError: it is neither a path nor an id
    """
    model = reference.parse(text)
    path, mount, problems = _folder(model, cache_dir)
    if not problems:
        try:
            problems = files.problems(_sizes(path), _wanted_shards(path))
        except (OSError, ValueError) as error:
            problems = [f"cannot be read: {error}"]
    return Found(model.text, path, mount, problems)


def login_home() -> str:
    """Home of the user that Ansible logs in as: under sudo, not root's."""
    user = os.environ.get("SUDO_USER")
    try:
        return pwd.getpwnam(user).pw_dir if user else str(Path.home())
    except KeyError:
        return str(Path.home())


def _folder(model: reference.ModelReference, cache_dir: str) -> tuple[str, str, list[str]]:
    """The model's folder, what to mount, and why there is no folder."""
    if model.is_path:
        return model.text, model.text, [] if Path(model.text).is_dir() else [f"no folder {model.text}"]
    root = hub_cache.root(cache_dir, os.environ, login_home())
    repository = Path(root, hub_cache.folder(model.text))
    if not repository.is_dir():
        return "", root, [f"no folder {repository}"]
    snapshots = repository / "snapshots"
    names = sorted(path.name for path in snapshots.iterdir()) if snapshots.is_dir() else []
    chosen = hub_cache.snapshot(_first_line(repository / "refs" / "main"), names)
    if not chosen:
        return "", root, [f"no snapshot in {repository} that refs/main names"]
    return str(snapshots / chosen), root, []


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").split("\n", 1)[0].strip()
    except OSError:
        return ""


def _sizes(folder: str) -> dict[str, int | None]:
    """Size of each entry of a folder in bytes, links followed; None for a dangling link."""
    found: dict[str, int | None] = {}
    for path in Path(folder).iterdir():
        try:
            found[path.name] = path.stat().st_size
        except FileNotFoundError:
            found[path.name] = None
    return found


def _wanted_shards(folder: str) -> list[str] | None:
    """Weight files that the folder's index names; None without an index."""
    try:
        return files.shards(json.loads(Path(folder, files.INDEX).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
