# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that outlive the call: real processes, each in a folder of its own."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.jobs import Jobs, free_port

# Far more than any machine needs; nothing waits for it but a failure.
PATIENCE = 30.0


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(tmp_path / "jobs")
    yield made
    for name in made.names():
        made.end(name)


def until_ended(jobs: Jobs, name: str) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ended = jobs.look(name)
        if ended:
            return ended
        time.sleep(0.02)
    pytest.fail(f"{name} has not ended")


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_what_came_of_it(jobs: Jobs) -> None:
    jobs.start("one", python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), 30)
    assert until_ended(jobs, "one") == {"code": 3, "out": "out\n", "err": "err\n"}


def test_no_such_program(jobs: Jobs) -> None:
    jobs.start("one", ["dgxspark-no-such-program"], 30)
    ended = until_ended(jobs, "one")
    assert ended["code"] == 127
    assert "dgxspark-no-such-program" in ended["err"]


def test_it_ends_after_its_limit(jobs: Jobs) -> None:
    jobs.start("one", python("import time; time.sleep(600)"), 0.5)
    ended = until_ended(jobs, "one")
    assert ended["code"] == 124
    assert "no end after 0 s" in ended["err"] or "no end after 1 s" in ended["err"]


def test_it_runs_until_it_is_ended_with_its_children(jobs: Jobs, tmp_path: Path) -> None:
    port = free_port("127.0.0.1")
    mark = tmp_path / "listening"
    child = (
        f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); open({str(mark)!r}, 'w'); "
        "time.sleep(600)"
    )
    jobs.start("one", python(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"), 600)
    until = time.monotonic() + PATIENCE
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert jobs.look("one") is None
    assert jobs.names() == ["one"]
    jobs.end("one")
    assert jobs.names() == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 1)


def test_a_second_one_of_the_same_name_takes_its_place(jobs: Jobs) -> None:
    jobs.start("one", python("import time; time.sleep(600)"), 600)
    jobs.start("one", python("print('second')"), 30)
    assert until_ended(jobs, "one")["out"] == "second\n"


def test_one_that_was_never_started(jobs: Jobs) -> None:
    assert jobs.look("none")["code"] == -1


def test_a_number_that_is_another_process_by_now(jobs: Jobs) -> None:
    jobs.folder.mkdir()
    (jobs.folder / "one.keeper").write_text("1")
    jobs.end("one")
    assert jobs.names() == []


def test_an_address_that_is_not_here() -> None:
    with pytest.raises(OSError):
        free_port("192.0.2.1")
