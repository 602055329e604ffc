# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A finding: one thing in a run that a reader of its figures must know. Pure."""

from __future__ import annotations

from collections.abc import Iterable

INFO, WARNING, ERROR = "info", "warning", "error"
_FIRST = {ERROR: 0, WARNING: 1, INFO: 2}
Finding = dict[str, str]


def finding(code: str, severity: str, place: str, found: str, wanted: str, remedy: str) -> Finding:
    """A finding in the words of a fault.

    :param place: a host, a rank or a target
    :param remedy: an imperative sentence
    """
    return {"code": code, "severity": severity, "text": f"{place}: found {found}, wanted {wanted}. {remedy}"}


def note(code: str, text: str) -> Finding:
    """A finding that asks for nothing."""
    return {"code": code, "severity": INFO, "text": text}


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Each once, errors first."""
    kept = {(one["code"], one["text"]): one for one in findings}
    return sorted(kept.values(), key=lambda one: _FIRST[one["severity"]])
