# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the sampler as a process that lives beside its callers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background import folder as folders
from ansible_collections.dgxspark.serving.plugins.module_utils.background import work
from ansible_collections.dgxspark.serving.plugins.module_utils.background.folder import JobFolder
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import gpu_stream, lines, sampling
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.job import DIED, SamplerJob

# In nvidia-smi's stead: says its process, then figures for ever.
SMI = """\
#!/bin/sh
echo $$ > {mark}
while :; do echo "96, 60.5, 74, 2411, [N/A]"; sleep 0.2; done
"""


@pytest.fixture(autouse=True)
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for jobs, quick samples, and a file that has the process of nvidia-smi."""
    program, mark = tmp_path / "nvidia-smi", tmp_path / "smi.pid"
    program.write_text(SMI.format(mark=mark), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(folders, "jobs_root", lambda: tmp_path / "jobs")
    monkeypatch.setattr(lines, "INTERVAL", 0.1)
    yield mark
    JobFolder("sampler-x").end()


def gone(mark: Path) -> bool:
    """Whether the process ends that a file names."""
    pid, until = int(mark.read_text(encoding="ascii")), time.monotonic() + 20
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def samples(job: SamplerJob, at_least: int) -> int:
    """Wait until so many samples were taken; how many."""
    until = time.monotonic() + 20
    while (count := job._text().count('"sample"')) < at_least and time.monotonic() < until:
        time.sleep(0.02)
    assert count >= at_least
    return count


def test_started_stopped_and_nothing_left(smi: Path, tmp_path: Path) -> None:
    job = SamplerJob("x")
    assert job.start(60) == ""
    assert job.running
    samples(job, 3)
    found = job.stop("spark1")
    assert found is not None
    assert not job.running
    assert len(found["samples"]) >= 3
    times = [sample["t"] for sample in found["samples"]]
    assert times == sorted(times)
    assert found["samples"][0]["gpu"]["util_pct"] == 96.0
    assert found["samples"][-1]["mem"]["available"] > 0
    assert found["cost"]["seconds"] > 0
    assert (found["host"], found["errors"]) == ("spark1", [])
    assert gone(smi)
    job.forget()
    assert list((tmp_path / "jobs").iterdir()) == []
    assert job.stop("spark1") is None
    assert list((tmp_path / "jobs").iterdir()) == []


def test_one_that_runs_is_left_and_lives_longer() -> None:
    job = SamplerJob("x")
    job.start(60)
    lock = (JobFolder("sampler-x").path / "lock").read_text(encoding="ascii")
    assert job.start(600) == ""
    assert (JobFolder("sampler-x").path / "lock").read_text(encoding="ascii") == lock
    assert (JobFolder("sampler-x").path / sampling.LEASE).read_text(encoding="ascii") == "600"


def test_its_lease_ends_it_and_its_samples_stay(smi: Path) -> None:
    job, until = SamplerJob("x"), time.monotonic() + 20
    job.start(0.3)
    while job.running and time.monotonic() < until:
        time.sleep(0.02)
    assert not job.running
    assert gone(smi)
    found = job.stop("spark1")
    assert found is not None
    assert found["samples"]
    assert found["errors"] == []


def test_nobody_asks_and_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "FORGOTTEN", 0.5)
    monkeypatch.setattr(work, "BEAT", 0.1)
    job = SamplerJob("x")
    job.start(60)
    before, until = samples(job, 1), time.monotonic() + 1.5
    while time.monotonic() < until:
        time.sleep(0.1)
    assert job.running
    samples(job, before + 3)


def test_after_a_break_it_goes_on_where_it_was() -> None:
    job = SamplerJob("x")
    job.start(60)
    count = samples(job, 2)
    os.killpg(int((JobFolder("sampler-x").path / "lock").read_text(encoding="ascii")), signal.SIGKILL)
    while job.running:
        time.sleep(0.02)
    with open(JobFolder("sampler-x").path / sampling.SAMPLES, "a", encoding="utf-8") as file:
        file.write('{"sample":{"half')
    assert job.start(60) == ""
    samples(job, count + 1)
    found = job.stop("spark1")
    assert found is not None
    assert len(found["samples"]) > count
    assert found["errors"] == []


def test_what_its_lease_has_ended_goes_on_when_the_run_does() -> None:
    """A run that was broken off and goes on a day later: nobody has fetched the samples of its first part."""
    job, until = SamplerJob("x"), time.monotonic() + 20
    job.start(0.3, lambda: {"disk": {"/": {"free": 1, "total": 2}}})
    while job.running and time.monotonic() < until:
        time.sleep(0.02)
    first = job._text().count('"sample"')
    assert job.start(60, lambda: {"disk": "of the second part"}) == ""
    samples(job, first + 1)
    found = job.stop("spark1", lambda: {"disk": {"/": {"free": 0, "total": 2}}, "gpu_processes": []})
    assert found is not None
    assert len(found["samples"]) > first
    assert found["disk"] == {"before": {"/": {"free": 1, "total": 2}}, "after": {"/": {"free": 0, "total": 2}}}
    assert found["gpu_processes"] == {"before": None, "after": []}


def test_what_was_fetched_stays_until_it_is_forgotten(tmp_path: Path) -> None:
    """The client could not be reached for too long: the other hosts' samplers are stopped, and no report is written."""
    job = SamplerJob("x")
    job.start(60, lambda: {"disk": {}})
    count = samples(job, 2)
    first = job.stop("spark1")
    assert first is not None
    again = SamplerJob("x").stop("spark1")
    assert again is not None
    assert again["samples"] == first["samples"]
    assert job.start(60, lambda: pytest.fail("looked at again")) == ""
    samples(job, len(first["samples"]) + 1)
    second = job.stop("spark1")
    assert second is not None
    assert count <= len(first["samples"]) < len(second["samples"])
    assert second["samples"][: len(first["samples"])] == first["samples"]
    assert (second["disk"]["before"], second["errors"]) == ({}, [])
    job.forget()
    assert job.stop("spark1") is None


def test_one_that_still_runs_goes_on_in_its_file_and_is_not_looked_at_again() -> None:
    """Ctrl-C ends the play, not the sampler: the same run finds it."""
    job = SamplerJob("x")
    job.start(60, lambda: {"disk": {}})
    before = samples(job, 2)
    assert SamplerJob("x").start(60, lambda: pytest.fail("looked at again")) == ""
    samples(job, before + 1)
    found = job.stop("spark1")
    assert found is not None
    assert len(found["samples"]) > before
    assert found["disk"]["before"] == {}


def test_one_that_was_killed_gives_what_it_had_and_takes_nvidia_smi_with_it(smi: Path) -> None:
    job = SamplerJob("x")
    job.start(60)
    samples(job, 2)
    # As the kernel does when memory is short: the process alone, not its group.
    os.kill(int((JobFolder("sampler-x").path / "lock").read_text(encoding="ascii")), signal.SIGKILL)
    assert gone(smi)
    found = job.stop("spark1")
    assert found is not None
    assert len(found["samples"]) >= 2
    assert found["errors"] == [DIED]


def test_a_host_without_nvidia_smi_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_stream.GpuStream.__init__, "__defaults__", ((("/nowhere/smi",),), time.monotonic))
    job = SamplerJob("x")
    job.start(60)
    found = job.stop("spark1")
    assert found is not None
    assert {*found["samples"][-1]["gpu"].values()} == {None}
    assert len(found["errors"]) == 1
    assert found["errors"][0].startswith("nvidia-smi cannot be started")


def test_a_lease_whose_folder_is_removed_is_over(tmp_path: Path) -> None:
    lease = sampling.Lease(tmp_path / "lease")
    assert lease.ended(0.0)
    (tmp_path / "lease").write_text("5", encoding="ascii")
    assert [lease.ended(now) for now in (10.0, 14.9, 15.0)] == [False, False, True]
    (tmp_path / "next").write_text("7", encoding="ascii")
    (tmp_path / "next").replace(tmp_path / "lease")
    assert [lease.ended(now) for now in (20.0, 26.9, 27.0)] == [False, False, True]
