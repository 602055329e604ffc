# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files by which hosts may copy from each other over the fabric, and nothing else: as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MARK = "dgxspark-serving-fabric@"


class NotSafe(Exception):
    """Something would not stand as one word in an authorized_keys file; ``str()`` is the text for the user."""


def comment(host: str) -> str:
    """The comment of a host's key, by which our lines are known again."""
    return f"{MARK}{host}"


def known_hosts(peers: Sequence[Mapping[str, Any]]) -> str:
    """A known_hosts file with the peers' host keys for their fabric addresses.

    :param peers: each with ``addresses`` and ``host_keys`` (lines of public key files)
    """
    lines = []
    for peer in peers:
        for key in peer["host_keys"]:
            kind, value = key.split()[:2]
            lines.append(f"{','.join(peer['addresses'])} {kind} {value}")
    return "".join(f"{line}\n" for line in sorted(lines))


def authorized(peer: Mapping[str, Any], rrsync: str, folder: str) -> str:
    """The line that lets a peer read one folder by rsync, from its fabric addresses, and do nothing else.

    :raises NotSafe: when the folder cannot be written there
    """
    if not folder.startswith("/") or any(sign in folder for sign in "\"'\\\n$`") or folder == "/":
        raise NotSafe(
            f"fabric_ssh_folder is {folder!r}; wanted is the absolute path of one folder below /, without quotes."
        )
    kind, value = peer["public_key"].split()[:2]
    command = f"{rrsync} -ro -no-lock '{folder}'"
    source = ",".join(peer["addresses"])
    return f'restrict,from="{source}",command="{command}" {kind} {value} {comment(peer["host"])}'


def with_ours(text: str, lines: Iterable[str]) -> str:
    """An authorized_keys file with our lines in place of those of an earlier run, and all others untouched."""
    rest = without_ours(text)
    ours = "".join(f"{line}\n" for line in sorted(lines))
    if not ours:
        return rest
    return f"{rest}\n{ours}" if rest and not rest.endswith("\n") else rest + ours


def without_ours(text: str) -> str:
    """An authorized_keys file without our lines."""
    return "".join(line for line in text.splitlines(keepends=True) if not _is_ours(line))


def _is_ours(line: str) -> bool:
    words = line.split()
    return bool(words) and words[-1].startswith(MARK) and not words[0].startswith("#")
