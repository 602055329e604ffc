# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The key that engines ask for, in its file on a host: an edge, it reads and writes that file."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import engine

KEY_FILE = "/etc/dgxspark-serving/engine.key"
MODE = 0o600

# What a bearer token may hold (RFC 6750); a shorter one can be guessed.
_KEY = re.compile(r"[A-Za-z0-9._~+/-]{16,}=*")

CAUSE = "the engine asks for a key, and the one on its host is missing or is not the one that it was started with"
REMEDY = "Deploy again with gateway_engine_key: true, which gives one key to all hosts and engines"


def refusal(status: int, key_file: str = "") -> str:
    """What is said of an engine that refuses our key (field fault G13).

    >>> refusal(401)
    'the engine refuses our key (401): wrong or missing key in /etc/dgxspark-serving/engine.key'
    """
    return engine.refusal(status, key_file or KEY_FILE)


def key_fault(key: str) -> str:
    """Why a text cannot be a key, in words that do not show it; empty when it can."""
    if _KEY.fullmatch(key):
        return ""
    return f"{len(key)} characters, wanted are 16 or more of A-Z, a-z, 0-9 and ._~+/-, with = at the end only"


def read_key(path: str) -> str:
    """The key in a file; empty when there is no file.

    :raises OSError: when the file cannot be read
    :raises ValueError: when it does not hold one key; the text does not show it
    """
    try:
        key = Path(path).read_text(encoding="latin-1").strip()
    except FileNotFoundError:
        return ""
    fault = key_fault(key)
    if fault:
        raise ValueError(f"{path} does not hold a key: it has {fault}")
    return key


def is_written(path: str, key: str) -> bool:
    """Whether a file holds a key for its owner alone."""
    try:
        found = os.lstat(path)
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return False
    private = stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == MODE and found.st_uid == os.geteuid()
    return private and content == f"{key}\n".encode()


def write_key(path: str, key: str) -> None:
    """Write a key for its owner alone; at no moment can others read it.

    :raises OSError: when the file system does not take it
    """
    file = Path(path)
    file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE), "w", encoding="ascii") as stream:
        os.fchmod(stream.fileno(), MODE)
        stream.write(f"{key}\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, file)
