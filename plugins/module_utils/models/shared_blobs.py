# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the repositories of a Hugging Face cache share: an edge, it reads links and, when asked, removes a shared file.

Since version 1.32 huggingface_hub keeps large files in ``blobs/XX/HASH`` of the cache, and a repository's own blob is a
link to there. ``HASH.refs`` names these links, and whoever changes one of both holds the lock ``HASH.lock``.
"""

from __future__ import annotations

import fcntl
import os
import posixpath
import re
import stat
from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress

from ansible_collections.dgxspark.serving.plugins.module_utils.models import canonical

MARKER = ".huggingface-shared-blobs"
_ENTRY = re.compile(r"([0-9a-f]{2})/\1[0-9a-f]{62}")


def users(root: str) -> dict[str, set[str]]:
    """What the links of all repositories lead to in one step, and the links that do; real paths of the folders.

    :raises OSError: a folder cannot be read
    """
    found = defaultdict(set)
    with os.scandir(root) as entries:
        repositories = [entry.path for entry in entries if "--" in entry.name and entry.is_dir()]
    for top in (os.path.join(repository, part) for repository in repositories for part in ("blobs", "snapshots")):
        for folder, folders, names in os.walk(os.path.realpath(top), onerror=canonical.fail):
            for name in (*folders, *names):
                link = os.path.join(folder, name)
                with suppress(OSError):  # no link
                    found[posixpath.normpath(posixpath.join(folder, os.readlink(link)))].add(link)
    return found


def only_of(root: str, links: Collection[str], used: Mapping[str, set[str]]) -> list[str]:
    """Shared files to which only these links lead.

    :param links: blobs of a repository, by the real path of their folder
    :param used: what :func:`users` gave
    """
    store = os.path.realpath(os.path.join(root, "blobs"))
    if not os.path.isfile(os.path.join(store, MARKER)):
        return []
    gone = set(links)
    return sorted(
        path
        for path, from_links in used.items()
        if from_links <= gone and path.startswith(f"{store}/") and _ENTRY.fullmatch(path[len(store) + 1 :])
    )


def sweep(root: str, path: str) -> int:
    """Remove a shared file if no link to it is known, as huggingface_hub does; bytes that this freed.

    :raises OSError: it cannot be removed
    """
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there = os.lstat(path)
        if not stat.S_ISREG(there.st_mode) or _known(root, path):
            return 0
        os.unlink(path)
        os.unlink(f"{path}.refs")
        return there.st_size
    except (BlockingIOError, FileNotFoundError):
        return 0
    finally:
        os.close(descriptor)


def _known(root: str, path: str) -> bool:
    """Whether a link is known that leads there. Without the file that names them, nobody can say that there is none."""
    try:
        with open(f"{path}.refs", encoding="utf-8") as stream:
            names = stream.read().splitlines()
    except (FileNotFoundError, UnicodeError):
        return True
    return any(os.path.realpath(os.path.join(root, name)) == path for name in names if name)
