# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One lab of two hosts for all tests of this folder.

A test module that needs engine images says so by `pytestmark = pytest.mark.engines("double")`; the lab starts with
the images of all modules that run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.docker_engine import connect, ensure_engine, stop_engine
from lab.engine_choice import chosen_engines
from lab.lab import Lab


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "engines(*names): engine images that the lab of this session must hold")


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[None]:
    """Have a Docker Engine, and stop it afterwards if it was not there before."""
    was_there = connect() is not None
    ensure_engine()
    yield
    if not was_there:
        stop_engine()


@pytest.fixture(scope="session")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the session lab's inventory, with the variables of the first engine that is asked for."""
    return tmp_path_factory.mktemp("inventory")


@pytest.fixture(scope="session")
def lab(docker_engine: None, request: pytest.FixtureRequest, inventory: Path) -> Iterator[Lab]:
    """Return a running lab of two hosts; `lab.run(host, argv, user="nvidia")` gives (exit code, stdout, stderr)."""
    names = [name for item in request.session.items for mark in item.iter_markers("engines") for name in mark.args]
    # Another name lets a second run of these tests go beside the first.
    made = Lab(ensure_engine(), os.environ.get("DGXSPARK_TEST_LAB", "labtest"))
    made.down()  # of a session that was killed
    try:
        made.up(2, chosen_engines(names), inventory)
        yield made
    finally:
        made.down()
