# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's files held against a manifest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# So many file names are given in one sentence.
MOST_NAMES = 3


@dataclass(frozen=True)
class Difference:
    """How a host's files differ from a manifest; paths, sorted.

    :ivar wrong_link: links that lead elsewhere, and links and files in place of each other
    """

    missing: list[str] = field(default_factory=list)
    wrong_size: list[str] = field(default_factory=list)
    wrong_link: list[str] = field(default_factory=list)
    wrong_content: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """What is there and must be replaced."""
        return sorted({*self.wrong_size, *self.wrong_link, *self.wrong_content})

    def sentences(self) -> list[str]:
        """The differences in words; nothing for what is only extra."""
        said = (
            (self.missing, "not there"),
            (self.wrong_size, "of another size"),
            (self.wrong_link, "no such link"),
            (self.wrong_content, "of other content (SHA-256)"),
        )
        return [f"{len(paths)} {words}: {some(paths)}" for paths, words in said if paths]


def compare(manifest: Mapping[str, Any], entries: Iterable[Mapping[str, Any]], hashes: Mapping[str, str]) -> Difference:
    """Hold what lies on a host against a manifest.

    :param entries: canonical entries of the host
    :param hashes: SHA-256 of those of its files that were read, by path; the others are judged by their size
    """
    here = {entry["path"]: entry for entry in entries}
    wanted = {entry["path"]: entry for entry in manifest["entries"]}
    found = Difference(missing=sorted(wanted.keys() - here.keys()), extra=sorted(here.keys() - wanted.keys()))
    for path in sorted(wanted.keys() & here.keys()):
        want, have = wanted[path], here[path]
        if want.get("link") != have.get("link"):
            found.wrong_link.append(path)
        elif want.get("size") != have.get("size"):
            found.wrong_size.append(path)
        elif "size" in want and hashes.get(path, want["sha256"]) != want["sha256"]:
            found.wrong_content.append(path)
    return found


def some(names: list[str]) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
