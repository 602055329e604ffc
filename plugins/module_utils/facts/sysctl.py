# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings as files say them, by the rules of systemd-sysctl, and as they are now. Pure.

Keys are compared in the form of their path below ``/proc/sys``: ``net.core.rmem_max`` is ``net/core/rmem_max``.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import drop_ins
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

PROC = "/proc/sys"
FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d")
CLASSIC = "/etc/sysctl.conf"
MOUNTS = "/proc/self/mounts"
CONGESTION = "net.ipv4.tcp_congestion_control"
AVAILABLE = "net.ipv4.tcp_available_congestion_control"
# A unit of this name that is not another name of systemd-sysctl reads sysctl.conf after all else.
PROCPS = "/usr/lib/systemd/system/procps.service"
_REMARK = re.compile(r"\s[#;]")
_KEY = re.compile(r"[A-Za-z0-9_][\w:@,%-]*(?:/[\w:@,%.-]*[\w:@,%-])+")


@dataclass(frozen=True)
class Setting:
    """A row of a file.

    :ivar path: the file itself, also where a link led to it
    :ivar line: its number, from 1
    """

    key: str
    value: str
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path} line {self.line}"


def path_of(key: str) -> str:
    """A key's path below ``/proc/sys``. The separator that comes first decides what ``.`` and ``/`` mean."""
    first = re.search(r"[./]", key)
    if first and first[0] == ".":
        return key.translate(str.maketrans("./", "/."))
    return key


def is_key(key: str) -> bool:
    """Whether it names one setting, and nothing outside ``/proc/sys``."""
    return bool(_KEY.fullmatch(path_of(key)))


def file_of(key: str) -> str:
    """Where the kernel has it."""
    return f"{PROC}/{path_of(key)}"


def same(one: str, other: str) -> bool:
    """Whether two values mean the same; the kernel answers with tabs (field fault S03)."""
    return one.split() == other.split()


def has_remark(value: str) -> bool:
    """Whether a remark stands after the value, where it becomes a part of it (field fault S05)."""
    return bool(_REMARK.search(value))


def settings(path: str, text: str) -> list[Setting]:
    """All rows of a file that set something."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith(("#", ";")):
            found.append(Setting(key.strip().removeprefix("-").strip(), value.strip(), path, number))
    return found


def sources(keys: Iterable[str]) -> Sources:
    """What to read; all of it may be read by everybody.

    :param keys: settings of which the value now is wanted
    """
    folders = tuple(f"{folder}/*.conf" for folder in FOLDERS)
    files = (*folders, CLASSIC, MOUNTS, *(file_of(key) for key in (*keys, AVAILABLE)))
    return Sources(files, (*folders, PROCPS))


def at_boot(files: Mapping[str, str], links: Mapping[str, str]) -> list[Setting]:
    """All rows that are read at boot, in that order.

    ``/etc/sysctl.conf`` counts only where a link in a folder leads to it, or where procps reads it last.

    :param links: the file that is meant, by path in a folder
    """
    found = []
    for path in drop_ins.ordered(files, FOLDERS):
        found += settings(links.get(path, path), files[path])
    if links.get(PROCPS, "").endswith("/procps.service"):
        found += settings(CLASSIC, files.get(CLASSIC, ""))
    return found


def effective(found: Collection[Setting], key: str) -> Setting | None:
    """The row that decides what a key is after the boot; None where no file names it.

    The last one wins (field fault S08); one with ``*`` in its key counts only where none names the key itself.
    """
    path = path_of(key)
    named = [one for one in found if path_of(one.key) == path]
    matching = [one for one in found if "*" in one.key and fnmatch.fnmatchcase(path, path_of(one.key))]
    return (named or matching or [None])[-1]


def now(raw: Raw, key: str) -> str | None:
    """The value now; None where there is no such setting here."""
    return raw.text(file_of(key)) if file_of(key) in raw.files else None


def read_only(raw: Raw) -> bool:
    """Whether nobody can set anything here, as in a container without rights (field fault S09)."""
    mounts = [line.split() for line in raw.files.get(MOUNTS, "").splitlines()]
    over = [fields[3].split(",") for fields in mounts if len(fields) > 3 and fields[1] == PROC]
    return bool(over) and "ro" in over[-1]
