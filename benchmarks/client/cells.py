# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cell: a tool against the mock, once; and what came of it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.client import child, tools
from benchmarks.client.contenders import OURS, Contender, Figures, Job
from benchmarks.client.dialect import NONE_IS_GOOD
from benchmarks.client.truth import Truth, ask_mock, errors, set_mock

PORT = 29850
URL = f"http://127.0.0.1:{PORT}"
# Seconds to the first token and between two, tokens of an answer: of the table, and of the matrix.
TABLE = {"ttft": 0.1, "itl": 0.02}
TABLE_TOKENS = 128
MATRIX = {"ttft": 0.2, "itl": 0.01}
MATRIX_TOKENS = 64
MATRIX_USERS, MATRIX_REQUESTS = 4, 8
# Two waves; one user alone asks three times.
WAVES = 2
FEWEST = 3


@dataclass(frozen=True)
class Cell:
    """What a tool found, what was true, and what the tool took."""

    tool: str
    users: int
    requests: int
    figures: Figures
    truth: Truth
    usage: child.Usage | None
    why: str = ""
    wrong: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def to_first(self) -> float | None:
        """Seconds from the start of the process to the first request that arrived."""
        if self.usage is None or not self.truth.first_arrival:
            return None
        return self.truth.first_arrival - self.usage.began

    @property
    def after_last(self) -> float | None:
        """Seconds from the last token to the end of the process."""
        return None if self.usage is None or not self.truth.last_send else self.usage.ended - self.truth.last_send

    @property
    def cpu_per_thousand(self) -> float | None:
        """CPU seconds of the whole process per 1,000 tokens."""
        return None if self.usage is None or not self.truth.tokens else 1000 * self.usage.cpu / self.truth.tokens


def nothing(tool: str, users: int, why: str) -> Cell:
    """The cell of a tool that could not be run."""
    return Cell(tool, users, 0, Figures(), Truth(None, None, None, None, 0, 0, 0.0, 0.0, 0), None, why)


def last_words(log: Path) -> str:
    """The last line that a tool printed."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "it said nothing")[:200]


def measure(contender: Contender, users: int, folder: Path, fault: str = "") -> Cell:
    """Run a tool against the mock: a cell of the table, or with a fault one of the matrix."""
    missing = "" if contender.name == OURS else tools.state_of(contender.name)[1]
    if missing:
        return nothing(contender.name, users, missing)
    settings, tokens = (MATRIX, MATRIX_TOKENS) if fault else (TABLE, TABLE_TOKENS)
    requests = MATRIX_REQUESTS if fault else max(WAVES * users, FEWEST)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    set_mock(PORT, **settings, fault=fault or "base")
    job = Job(URL, users, requests, tokens, folder, continuous_usage=fault == "chunk4")
    usage = child.run(contender.command(job), folder / "log", contender.environment)
    truth = ask_mock(PORT, requests, good=fault not in NONE_IS_GOOD)
    try:
        figures, why = contender.read(job), ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        ended = "was ended after its time" if usage.code is None else f"ended with exit code {usage.code}"
        figures, why = Figures(), f"no result ({type(error).__name__}; it {ended}): {last_words(folder / 'log')}"
    return Cell(contender.name, users, requests, figures, truth, usage, why, errors(figures, truth))
