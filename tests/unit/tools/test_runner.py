# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running steps, with real children."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tools.lanes import Step
from tools.runner import Result, Runner, last_line, log_name, table, tail
from tools.stop_signals import Stopped


def step(name: str, code: str, limit: int = 60) -> Step:
    """Return a step that runs Python code."""
    return Step(name, (sys.executable, "-c", code), limit=limit)


def run(folder: Path, *steps: Step) -> tuple[list[Result], list[str]]:
    """Run steps; return results and what was said."""
    said: list[str] = []
    runner = Runner(folder, folder / "logs", dict(os.environ), said.append)
    runner.run(steps)
    return runner.results, said


def test_all_steps_run_and_a_failure_shows_its_log(tmp_path: Path) -> None:
    results, said = run(
        tmp_path,
        step("bad", "import sys; print('the reason'); sys.exit(3)"),
        step("good", "print('fine')"),
        step("late", "print('also run')"),
    )
    assert {result.name: result.code for result in results} == {"bad": 3, "good": 0, "late": 0}
    assert "the reason" in said
    assert "fine" not in said
    assert (tmp_path / "logs" / "good.log").read_text(encoding="utf-8") == "fine\n"


def test_a_hung_step_is_ended_with_its_children(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time; c = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "open('pid', 'w').write(str(c.pid)); time.sleep(600)"
    )
    results, _said = run(tmp_path, step("hung", code, limit=2))
    assert [(result.code, result.verdict) for result in results] == [(None, "TIMED OUT")]
    grandchild = int((tmp_path / "pid").read_text(encoding="utf-8"))
    until = time.monotonic() + 10
    while _runs(grandchild):
        assert time.monotonic() < until, "the step's own child is still there"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Say whether a process runs; one that nobody has waited for yet has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_children_end_when_the_run_is_stopped(tmp_path: Path) -> None:
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text.startswith("end"):
            raise Stopped(15)

    runner = Runner(tmp_path, tmp_path / "logs", dict(os.environ), say)
    quick = step("quick", "pass")
    slow = step("slow", "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)")
    with pytest.raises(Stopped) as caught:
        runner.run([slow, quick])
    assert caught.value.exit_code == 143
    pid = tmp_path / "pid"
    assert not pid.exists() or not _runs(int(pid.read_text(encoding="utf-8") or 0))


def test_table_and_count() -> None:
    log = Path("x.log")
    text = table([Result("a", 0, 1.25, log), Result("long name", 2, 100, log), Result("c", None, 3, log)])
    assert text.splitlines() == [
        "a          passed          1.2 s",
        "long name  FAILED (2)    100.0 s",
        "c          TIMED OUT       3.0 s",
        "1 passed, 2 failed",
    ]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", "(no output yet)"),
        ("one\ntwo\n\n", "two"),
        ("\x1b[32mok\x1b[0m\n", "ok"),
        ("10 %\r20 %", "20 %"),
        ("x" * 300, "x" * 120),
    ],
)
def test_last_line(text: str, want: str) -> None:
    assert last_line(text) == want


def test_tail_and_log_name() -> None:
    assert tail("1\n2\n3\n", 2) == "2\n3"
    assert log_name("ansible-test sanity") == "ansible-test-sanity.log"
