# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an image could not be pulled, whether another attempt can help, and what to do (field fault D10). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LOAD = "load the image on the host with: docker load -i IMAGE.tar"
_UNKNOWN = f"Correct serving_image, let the host reach the image's registry, or {LOAD}"


@dataclass(frozen=True)
class PullError:
    """What a failed attempt means.

    :ivar again: whether another attempt can help
    :ivar remedy: what to do when it does not, a sentence without its full stop
    """

    again: bool
    remedy: str


# In order: what can never help comes first, for dockerd wraps one error in the words of another.
_TABLE: tuple[tuple[str, PullError], ...] = (
    (
        r"no matching manifest for",
        PullError(False, "Set serving_image to a tag that has arm64; this one has other architectures only"),
    ),
    (
        r"pull access denied|unauthorized|authentication required|denied:|no basic auth credentials",
        PullError(False, "Correct serving_image, or log in to its registry on the host with: docker login"),
    ),
    (
        r"manifest unknown|manifest for \S+ not found|name unknown|repository \S+ not found|invalid reference format",
        PullError(False, "Correct the name or the tag in serving_image"),
    ),
    (r"no space left on device", PullError(False, "Make room on the host, for instance with: docker system prune")),
    (
        r"no such host|network is unreachable|no route to host|x509:|server gave HTTP response to HTTPS client",
        PullError(False, f"Let the host reach the image's registry, or {LOAD}"),
    ),
    (
        r"toomanyrequests|too many requests|rate limit",
        PullError(
            True,
            "The registry limits how much may be pulled: wait, log in to it on the host with docker login to be allowed"
            f" more, or {LOAD}",
        ),
    ),
    (
        (
            r"TLS handshake timeout|i/o timeout|Client\.Timeout|context deadline exceeded|request canceled|timed out"
            r"|connection reset|broken pipe|unexpected EOF|\bEOF\b|lookup .*(?:server misbehaving|temporary failure)"
            r"|dial tcp .*connection refused|unexpected HTTP status: 5|Bad Gateway|Service Unavailable"
        ),
        PullError(True, f"Check that the host reaches the image's registry, and run again, or {LOAD}"),
    ),
)


# community.docker puts the call to dockerd and its status before what dockerd said.
_SAID = re.compile(r'\("(.*)"\)$')


def words(message: str) -> str:
    """What Docker or the registry said, on one line and without the full stop."""
    line = " ".join(message.split())
    inner = _SAID.search(line)
    return (inner[1] if inner else line).rstrip(".") or "no reason given"


def judge(message: str) -> PullError:
    """Say what the words of Docker or of the registry mean; words that nobody knows are not worth another attempt."""
    for pattern, error in _TABLE:
        if re.search(pattern, message, re.IGNORECASE):
            return error
    return PullError(False, _UNKNOWN)


def pauses(attempts: int, delay: float) -> Iterator[float]:
    """Seconds to wait after each attempt but the last; each pause is twice the one before."""
    for number in range(attempts - 1):
        yield delay * 2**number
