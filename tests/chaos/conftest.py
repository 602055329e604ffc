# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lab of two hosts with one replica of two ranks, deployed once, for all faults.

CHAOS_ENGINE=double|vllm-cpu chooses the engine. With CHAOS_RECORD=1 a whole run ends with results/chaos/ENGINE.json and
the engine's table in docs/reliability.md; a run of some tests, or one that failed, writes neither.
"""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.docker_engine import connect, ensure_engine, stop_engine
from lab.engine_choice import chosen_engines
from lab.lab import Lab
from lab.progress import progress
from tests.chaos.pair import HOSTS, Pair
from tests.chaos.record import Outcome, write
from tools.ssh_masters import own_control_folder

ENGINE = os.environ.get("CHAOS_ENGINE", "double")
LIMIT = {"double": 400.0, "vllm-cpu": 900.0}[ENGINE]
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember whether any test failed: a table with a gap is worse than the one of the last whole run."""
    report = yield
    if report.failed:
        item.session.stash[FAILED] = True
    return report


@pytest.fixture(scope="session")
def engine() -> str:
    """Return the name of the lab's engine."""
    return ENGINE


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return a running lab of two hosts; its inventory is in `lab.state.inventories()`."""
    was_there = connect() is not None
    made = Lab(ensure_engine(), os.environ.get("DGXSPARK_TEST_LAB", "chaos"))
    made.down()  # of a session that was killed
    try:
        made.up(len(HOSTS), chosen_engines([ENGINE]), tmp_path_factory.mktemp("inventory"))
        yield made
    finally:
        made.down()
        if not was_there:
            stop_engine()


@pytest.fixture(scope="session")
def deployed(lab: Lab) -> Iterator[Pair]:
    """Return the replica, deployed by deploy-tp2.yml."""
    with own_control_folder() as environment:
        made = Pair(lab, Path(lab.state.inventories()[0]), environment, LIMIT)
        made.have_own()
        yield made


@pytest.fixture
def any_pair(deployed: Pair) -> Iterator[Pair]:
    """Return the replica as another test deployed it; what a fault left of the links and hosts is mended afterwards."""
    deployed.wait_generating()
    yield deployed
    for row in deployed.lab.status():
        if row.state != "running":
            deployed.lab.start_host(row.host.name)
        deployed.lab.restore(row.host.name)


@pytest.fixture
def pair(any_pair: Pair) -> Pair:
    """Return the replica with the inventory's own variables, whole and generating."""
    any_pair.have_own()
    return any_pair


@pytest.fixture(scope="session")
def record(request: pytest.FixtureRequest, deployed: Pair) -> Iterator[Callable[[Outcome], None]]:
    """Return what takes the outcome of each fault; written, if asked for, when all tests of this folder passed."""
    deployed.wait_generating()
    own_start = deployed.engine_start()
    outcomes: list[Outcome] = []

    def take(outcome: Outcome) -> None:
        progress(f"chaos: {outcome}")
        outcomes.append(outcome)

    yield take
    modules = {item.path for item in request.session.items}
    selected = request.config.option.keyword or any("::" in argument for argument in request.config.args)
    whole = not selected and modules >= set(Path(__file__).parent.glob("test_*.py"))
    if os.environ.get("CHAOS_RECORD") and whole and not request.session.stash.get(FAILED, False):
        today = datetime.datetime.now(tz=datetime.timezone.utc).date()
        made = (
            f"{today}, {os.cpu_count()} cores ({platform.machine()}) that both hosts and the controller share. In the "
            f"first deployment the engine took {own_start:.1f} s to start."
        )
        write(ENGINE, made, outcomes)
