# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of each fault: results/chaos/ENGINE.json, and the tables of docs/reliability.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
RESULTS = CHECKOUT / "results" / "chaos"
PAGE = CHECKOUT / "docs" / "reliability.md"
HEADER = ("Fault", "Noticed as", "Generates again after", "Engine's own start", "Difference", "Aim")


@dataclass(frozen=True)
class Outcome:
    """What became of one fault.

    :ivar noticed: the reason that the supervisors gave, or what the run said
    :ivar seconds: from the fault to the first generated token; None where nothing was to be waited for
    :ivar engine: seconds that the engine itself took to start after the fault
    :ivar aim: seconds that the difference is to stay under; None without an aim
    """

    fault: str
    noticed: str
    seconds: float | None = None
    engine: float | None = None
    aim: float | None = None


def row(outcome: Outcome) -> tuple[str, ...]:
    """Return one line of the table."""
    aim = "" if outcome.aim is None else f"< {outcome.aim:.0f} s"
    if outcome.seconds is None or outcome.engine is None:
        return (outcome.fault, outcome.noticed, "-", "", "", aim)
    difference = outcome.seconds - outcome.engine
    return (
        outcome.fault,
        outcome.noticed,
        f"{outcome.seconds:.1f} s",
        f"{outcome.engine:.1f} s",
        f"{difference:.1f} s",
        aim,
    )


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a Markdown table."""
    lines = [HEADER, ("---",) * len(HEADER), *map(row, outcomes)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def with_table(page: str, engine: str, content: str) -> str:
    """Return a page with new content between an engine's marker lines; raises ValueError without them."""
    begin, end = f"<!-- chaos {engine} -->\n", f"<!-- chaos {engine} end -->"
    before, found, rest = page.partition(begin)
    _old, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"the page has no lines {begin.strip()} and {end}")
    return f"{before}{begin}{content}\n{end}{after}"


def write(engine: str, made: str, outcomes: Sequence[Outcome], results: Path = RESULTS, page: Path = PAGE) -> None:
    """Write the outcomes of a whole run as JSON, and into the page.

    :param made: when and on what, one sentence
    """
    results.mkdir(parents=True, exist_ok=True)
    document = {"made": made, "outcomes": [asdict(outcome) for outcome in outcomes]}
    (results / f"{engine}.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    page.write_text(with_table(text, engine, f"{made}\n\n{table(outcomes)}"), encoding="utf-8")
