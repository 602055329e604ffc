# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of images as Docker reads them: ``[REGISTRY/]REPOSITORY[:TAG][@DIGEST]``. Pure."""

from __future__ import annotations

from dataclasses import dataclass

# What Docker means by a name without a registry.
HUB = "docker.io"


@dataclass(frozen=True)
class Name:
    """A name in its parts.

    :ivar registry: host of the registry, with its port if it has one
    :ivar repository: the name there, ``library/`` included
    :ivar tag: empty when there is only a digest
    :ivar digest: ``sha256:...``; empty when there is none
    """

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def loopback(self) -> bool:
        """Whether the registry is on the host itself, which Docker asks without TLS."""
        host = self.registry.partition(":")[0]
        return host == "localhost" or host.startswith("127.")

    @property
    def same_repository(self) -> tuple[str, str]:
        """What images of one repository have in common."""
        return self.registry, self.repository


def read(name: str) -> Name:
    """Take a name apart."""
    rest, _at, digest = name.partition("@")
    path, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:
        path, tag = rest, "" if digest else "latest"
    first, slash, more = path.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        registry, repository = first, more
    else:
        registry, repository = HUB, path
    if registry == HUB and "/" not in repository:
        repository = f"library/{repository}"
    return Name(registry, repository, tag, digest)


def untagged(name: str) -> str:
    """The name as it was written, without tag and digest."""
    rest = name.partition("@")[0]
    path, colon, tag = rest.rpartition(":")
    return path if colon and "/" not in tag else rest


def by_digest(name: str, digest: str) -> str:
    """The same repository's image of a digest."""
    return f"{untagged(name)}@{digest}"


def at_mirror(mirror: str, name: str) -> str:
    """Where a mirror has the image of a name.

    :param mirror: its host, with a path where it keeps a registry's images under one
    """
    parts = read(name)
    suffix = f"@{parts.digest}" if parts.digest else f":{parts.tag}"
    return f"{mirror.removeprefix('https://').removeprefix('http://').rstrip('/')}/{parts.repository}{suffix}"
