# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What events did to requests through the gateway: results/gateway/events.json, and a table of docs/reliability.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from tests.chaos.record import CHECKOUT, PAGE, with_table
from tests.lab.load import Counts

RESULTS = CHECKOUT / "results" / "gateway"
HEADER = ("Event", "Requests", "Failed", "Running streams lost", "Until none fails")


def row(event: str, counted: Counts) -> tuple[str, ...]:
    """Return one line of the table."""
    until = f"{counted.until_none_fails:.1f} s" if counted.failed or counted.streams_lost else "0"
    return event, str(counted.asked), str(counted.failed), str(counted.streams_lost), until


def table(outcomes: Mapping[str, Counts]) -> str:
    """Return a Markdown table."""
    lines = [HEADER, ("---",) * len(HEADER), *(row(event, counted) for event, counted in outcomes.items())]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(made: str, outcomes: Mapping[str, Counts], results: Path = RESULTS, page: Path = PAGE) -> None:
    """Write the outcomes of a whole run as JSON, and into the page.

    :param made: when and on what, one sentence
    """
    results.mkdir(parents=True, exist_ok=True)
    document = {"made": made, "events": {event: asdict(counted) for event, counted in outcomes.items()}}
    (results / "events.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    page.write_text(with_table(text, "gateway", f"{made}\n\n{table(outcomes)}"), encoding="utf-8")
