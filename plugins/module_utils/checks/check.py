# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answer to one question about a host."""

from __future__ import annotations

from dataclasses import dataclass

PASS, WARN, FAIL, SKIP = "pass", "warn", "fail", "skip"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    :ivar id: ``group.word``; docs/troubleshooting.md explains each
    :ivar status: ``pass``, ``warn`` (works, but slower or at a risk), ``fail`` or ``skip``
    :ivar found: what there is
    :ivar wanted: what would be right
    :ivar detail: background, a sentence
    :ivar remedy: what to do, a sentence
    """

    id: str
    status: str
    found: str
    wanted: str = ""
    detail: str = ""
    remedy: str = ""


def passed(name: str, found: str, detail: str = "") -> Check:
    """All is well."""
    return Check(name, PASS, found, detail=detail)


def warned(name: str, found: str, wanted: str, remedy: str, detail: str = "") -> Check:
    """It works, but slower, or at a risk."""
    return Check(name, WARN, found, wanted, detail, remedy)


def failed(name: str, found: str, wanted: str, remedy: str, detail: str = "") -> Check:
    """A deployment cannot work, or harms the host."""
    return Check(name, FAIL, found, wanted, detail, remedy)


def skipped(name: str, reason: str) -> Check:
    """Nothing can be said here, or nothing is to be said."""
    return Check(name, SKIP, reason)


def needs_become(name: str) -> Check:
    """Only root can see it."""
    return skipped(name, "needs become")
