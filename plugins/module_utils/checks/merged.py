# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several answers to one question, as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    FAIL,
    PASS,
    SKIP,
    WARN,
    Check,
    skipped,
)


def merged(name: str, parts: Sequence[Check], reason: str) -> Check:
    """One check for what was found on each link, or of each peer: the worst there is, with all that is wrong.

    :param reason: why nothing can be said when there are no parts
    """
    for status in (FAIL, WARN, PASS, SKIP):
        those = [part for part in parts if part.status == status]
        if status == FAIL and those:
            those += [part for part in parts if part.status == WARN]
        if those:
            return Check(
                name,
                status,
                _joined(part.found for part in those),
                _joined(part.wanted for part in those),
                _joined(part.detail for part in those),
                _joined(part.remedy for part in those),
            )
    return skipped(name, reason)


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, texts)))
