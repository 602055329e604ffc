# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may read and write a model: an edge, it looks users and files up. Rule: field fault M02.

Downloads and copies run as the user that Ansible logs in as; a look may run as root, and must say the same.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils import disk


@dataclass(frozen=True)
class Login:
    """A user of the host.

    :ivar uid: their number; 0 may do anything
    :ivar gids: their groups
    """

    name: str
    uid: int
    gids: frozenset[int]
    home: str


def login() -> Login:
    """The user that Ansible logs in as: under sudo, not root."""
    try:
        if user := os.environ.get("SUDO_USER"):
            entry = pwd.getpwnam(user)
            groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
            return Login(entry.pw_name, entry.pw_uid, frozenset(groups), entry.pw_dir)
    except KeyError:
        pass
    uid = os.geteuid()
    return Login(name_of(uid), uid, frozenset((os.getegid(), *os.getgroups())), str(Path.home()))


def name_of(uid: int) -> str:
    """Name of a user, or their number where they have none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def by_mode(there: os.stat_result, user: Login, wanted: int) -> bool:
    """Whether a user has rights to a file, by its owner and mode.

    :param wanted: sum of 4 for reading, 2 for writing, 1 for entering
    """
    if user.uid == 0:
        return True
    if there.st_uid == user.uid:
        return there.st_mode >> 6 & wanted == wanted
    shift = 3 if there.st_gid in user.gids else 0
    return there.st_mode >> shift & wanted == wanted


def may(path: str, user: Login, wanted: int) -> bool:
    """Whether a user has rights to a file, links followed; the system is asked where it can know.

    :param wanted: sum of 4 for reading, 2 for writing, 1 for entering
    """
    if user.uid == os.geteuid():
        return os.access(path, wanted, effective_ids=True)
    try:
        return by_mode(os.stat(path), user, wanted)
    except OSError:
        return False


def unreadable(paths: Iterable[str], user: Login) -> list[str]:
    """Files and folders that the user cannot read, each with its owner and mode."""
    found = []
    for path in paths:
        if os.path.exists(path) and not may(path, user, 5 if os.path.isdir(path) else 4):
            there = os.stat(path)
            found.append(f"{path} (owner {name_of(there.st_uid)}, mode {stat.S_IMODE(there.st_mode):04o})")
    return found


def foreign(folders: Iterable[str], user: Login) -> list[str]:
    """Folders, and what is in them, that belong to another user and that the user cannot write."""
    found = []
    for folder in filter(os.path.isdir, folders):
        try:
            inside = [entry.path for entry in os.scandir(folder) if not entry.is_symlink()]
        except PermissionError:
            inside = []
        found += [path for path in (folder, *inside) if os.stat(path).st_uid != user.uid and not may(path, user, 2)]
    return found


def writable(paths: Iterable[str], user: Login) -> bool:
    """Whether the user can write folders, or make those that are not there."""
    existing = {disk.nearest(path) for path in paths}
    return all(may(path, user, 3) and not os.statvfs(path).f_flag & os.ST_RDONLY for path in existing)
