# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets in texts: each has a placeholder until its file is written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# As `rendered` makes them.
_PLACEHOLDER = re.compile(r"@(?:ENGINE_KEY|TLS_PEM|LITELLM_ENV|KEY(?:_SHA256)?:[A-Za-z0-9._-]+)@")
TLS_PEM = "@TLS_PEM@"
# Certificate, what leads to its root, and key.
TLS_FILE = "tls.pem"
LITELLM_ENV = "@LITELLM_ENV@"


def used(texts: Iterable[str]) -> set[str]:
    """The placeholders in some texts."""
    return {found for text in texts for found in _PLACEHOLDER.findall(text)}


def filled(text: str, secrets: Mapping[str, str]) -> str:
    """A text with its secrets, in one pass: what looks like a placeholder in a secret stays.

    :raises KeyError: there is a placeholder without a secret
    """
    return _PLACEHOLDER.sub(lambda found: secrets[found[0]], text)
