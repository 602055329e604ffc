# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request for tokens that outlives the module which sends it, with real processes."""

from __future__ import annotations

import json
import os
import select
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import generation_request
from ansible_collections.dgxspark.serving.plugins.module_utils.generation_request import GenerationRequest
from ansible_collections.dgxspark.serving.plugins.module_utils.readiness import Generation

GOOD = Generation(32, 0.5, "", "vllm-0.32.0-tp2-1a2b3c4d")
LONG = 3600.0
PATIENCE = 30.0


def request(folder: Path, wait: str = "w1", target: str = "t1") -> GenerationRequest:
    return GenerationRequest(folder, "dgxspark-a-0-r0", wait, target)


def answer(asked: GenerationRequest, timeout: float = LONG) -> Generation:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found, _seconds = asked.state(timeout)
        if found is not None:
            return found
        time.sleep(0.01)
    raise AssertionError("no answer")


def counting(folder: Path, gate: Path) -> Callable[[], Generation]:
    """What generates: leaves a mark for each request, and waits until there is ``gate``."""

    def generate() -> Generation:
        (folder / f"mark.{time.time_ns()}").touch()
        end = time.monotonic() + PATIENCE
        while not gate.exists() and time.monotonic() < end:
            time.sleep(0.01)
        return GOOD

    return generate


def test_n10_an_answer_is_found_by_later_looks_and_asked_for_once(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    first = request(tmp_path)
    assert first.state(LONG) == (None, None)
    first.send(counting(tmp_path, gate))
    for _look in range(3):
        found, seconds = request(tmp_path).state(LONG)
        assert found is None
        assert seconds is not None
    gate.touch()
    assert answer(request(tmp_path)) == GOOD
    assert answer(request(tmp_path)) == GOOD
    assert len(list(tmp_path.glob("mark.*"))) == 1


def test_another_wait_takes_a_request_over_that_still_runs(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    request(tmp_path).send(counting(tmp_path, gate))
    second = request(tmp_path, "w2")
    assert second.state(LONG)[0] is None
    assert second.state(LONG)[1] is not None
    gate.touch()
    assert answer(second) == GOOD


def test_another_wait_takes_no_old_answer(tmp_path: Path) -> None:
    first = request(tmp_path)
    first.send(lambda: GOOD)
    answer(first)
    assert request(tmp_path, "w2").state(LONG) == (None, None)


def test_a_container_that_was_started_again_is_asked_again(tmp_path: Path) -> None:
    first = request(tmp_path)
    first.send(lambda: GOOD)
    answer(first)
    assert request(tmp_path, target="t2").state(LONG) == (None, None)


def test_a_process_that_was_killed_is_an_error(tmp_path: Path) -> None:
    def end() -> Generation:
        os._exit(3)

    asked = request(tmp_path)
    asked.send(end)
    assert answer(asked).error == "the process that asked for it has ended without an answer"


def test_n10_no_answer_in_time_is_an_error(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    asked = request(tmp_path)
    asked.send(counting(tmp_path, gate))
    record = tmp_path / "dgxspark-a-0-r0.asked"
    found = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({**found, "sent": found["sent"] - 71}), encoding="utf-8")
    assert asked.state(60)[0] == Generation(error="no answer within 60 s")
    gate.touch()


def test_whoever_reads_the_output_of_the_module_is_not_kept_waiting(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    reader, writer = os.pipe()
    module = os.fork()
    if module == 0:
        try:
            os.dup2(writer, 1)
            os.close(writer)
            os.close(reader)
            request(tmp_path).send(counting(tmp_path, gate))
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(module, 0)
    readable, _writable, _failed = select.select([reader], [], [], PATIENCE)
    assert readable, "the process that asks holds the module's output"
    assert os.read(reader, 1) == b""
    os.close(reader)
    assert request(tmp_path).state(LONG)[0] is None
    gate.touch()
    assert answer(request(tmp_path)) == GOOD


def test_the_folder_is_below_the_state_folder(tmp_path: Path) -> None:
    folder = generation_request.folder_for(str(tmp_path / "run"))
    assert folder == tmp_path / "run" / "ready"
    assert folder.is_dir()


def test_without_root_the_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    folder = generation_request.folder_for(str(tmp_path / "file" / "none"))
    assert folder.parent == tmp_path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert generation_request.folder_for(str(tmp_path / "file" / "none")) == folder
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="is not a folder of this user alone"):
        generation_request.folder_for(str(tmp_path / "file" / "none"))


def test_running() -> None:
    assert generation_request.is_running(os.getpid())
    assert not generation_request.is_running(0)
    assert not generation_request.is_running(2**22 + 1)
