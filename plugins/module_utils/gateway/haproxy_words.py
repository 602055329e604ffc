# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How HAProxy's configuration is written: quoting, and an answer that HAProxy gives by itself."""

from __future__ import annotations


def quoted(text: str) -> str:
    """Return a text as one word that HAProxy takes literally."""
    return "'" + text.replace("'", "'\\''") + "'"


def literal(text: str) -> str:
    """Return a text for a log-format string, in which a percent sign would begin a variable."""
    return text.replace("%", "%%")


def returned(status: int, body: str, condition: str, *, headers: str = "", formatted: bool = False) -> str:
    """Return the rule that answers JSON under a condition.

    :param headers: e.g. ``hdr retry-after 1``
    :param formatted: the body is a log-format string
    """
    kind = "lf-string" if formatted else "string"
    words = f"http-request return status {status} content-type application/json {kind} {quoted(body)}"
    return " ".join(word for word in (words, headers, condition) if word)


def section(head: str, lines: list[str]) -> str:
    """Return a section with its lines indented."""
    return "\n".join([head, *(f"  {line}" for line in lines)]) + "\n"
