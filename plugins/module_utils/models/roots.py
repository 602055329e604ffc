# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders that environment variables name: what login sessions see, and how ``~`` and ``$HOME`` are read in it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

# Where PAM reads variables of every session; sudo drops them again.
ENVIRONMENT_FILE = "/etc/environment"
_LINE = re.compile(r"(?:export\s+)?(\w+)=(.*)", re.ASCII)
_HOME = re.compile(r"~(?=/|$)")


def environment(text: str) -> dict[str, str]:
    """Variables of a file such as ``/etc/environment``.

    >>> environment('# ours\\nHF_HOME="/data/hf"\\n')
    {'HF_HOME': '/data/hf'}
    """
    found = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            value = match[2].strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            found[match[1]] = value[1:-1] if quoted else value
    return found


def expand(folder: str, home: str) -> str:
    """A folder with ``~`` and ``$HOME`` of the user who owns the cache (field fault M03), without a trailing slash."""
    found = _HOME.sub(lambda match: home, folder, count=1) if folder.startswith("~") else folder
    return posixpath.normpath(found.replace("${HOME}", home).replace("$HOME", home))


def in_order(folders: Iterable[str], home: str) -> list[str]:
    """Folders expanded, empty ones and repetitions left out."""
    return list(dict.fromkeys(expand(folder, home) for folder in folders if folder))


def below(environ: Mapping[str, str], variable: str, rest: str) -> str:
    """A folder below the one that a variable names; nothing when the variable is not set."""
    return posixpath.join(environ[variable], rest) if environ.get(variable) else ""
