# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said while an engine is waited for, and when it does not become ready. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Characters of a log line that a line of progress shows.
SHOWN = 120
# Characters of the line that shows a cause.
SHOWN_OF_CAUSE = 300
# More possible causes than these confuse.
MOST_CAUSES = 3


def progress_line(host: str, container: str, seconds: float, seen: Mapping[str, Any]) -> str:
    """One line for one window.

    :param seen: what the module ``replica_ready`` returned
    """
    percent = f" {seen['percent']} %" if seen.get("percent") is not None else ""
    stage = f"{seen['engine_stage']}{percent}: " if seen.get("engine_stage") else ""
    last = seen.get("line") or "nothing in the log yet"
    return f"{host}: {container}: {seconds:.0f} s, {seen['detail']}; {stage}{last[:SHOWN]}"


def not_ready(host: str, container: str, seconds: float, limit: str, seen: Mapping[str, Any]) -> str:
    """Say what was found, why, what to do, and where more is.

    :param seconds: how long was waited
    :param limit: the limit of time that was reached, in words; empty when the engine failed before
    :param seen: what the module ``replica_ready`` returned last
    """
    log = [f"  | {line}" for line in seen.get("log") or []] or ["  | (empty)"]
    ended = f" {limit}" if limit else ""
    lines = [
        f"{host}: {container} did not become ready{ended}: after {seconds:.0f} s {seen['detail']}.",
        *_causes(seen),
        "Last lines of its log:",
        *log,
    ]
    if seen.get("evidence"):
        lines.append(f"Evidence is on {host} in {seen['evidence']}")
    lines.append(f"Read all of it on {host} with: docker logs {container}")
    return "\n".join(lines)


def _causes(seen: Mapping[str, Any]) -> list[str]:
    """The most likely cause with its remedy first; warnings only when there is nothing better."""
    found = seen.get("diagnosis") or []
    shown = [entry for entry in found if entry["level"] == "fatal"] or found
    lines = []
    for index, entry in enumerate(shown[:MOST_CAUSES]):
        word = "Cause" if index == 0 else "Or"
        lines.append(f"{word}: {entry['cause']}. {entry['remedy']}. ({entry['id']})")
        # What matters often stands far above the last lines.
        if entry["line"] and entry["line"] not in [seen["detail"], *(seen.get("log") or [])]:
            lines.append(f"  | {entry['line'][:SHOWN_OF_CAUSE]}")
    return lines
