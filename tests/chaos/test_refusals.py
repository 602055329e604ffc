# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot become a group is refused before anything is touched: the one that serves goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.chaos.pair import Pair
from tests.chaos.record import Outcome

Record = Callable[[Outcome], None]

LISTENER = "stranger"


def sentence(text: str, word: str) -> str:
    """Return the sentence of a run's output that holds a word."""
    return next(part for part in re.split(r"(?<=[.:;]) (?=[A-Za-z0-9])", text) if word in part)[:200]


@contextmanager
def listener(pair: Pair, address: str, port: int) -> Iterator[None]:
    """Have a program of somebody else listen on spark1."""
    program = f"import socket, time; s = socket.create_server(('{address}', {port})); time.sleep(3600)"
    assert pair.ask("spark1", "systemd-run", f"--unit={LISTENER}", "python3", "-c", program) is not None
    try:
        pair.wait(lambda: str(port) in (pair.ask("spark1", "ss", "-Hltn", f"sport = :{port}") or ""), "it listens")
        yield
    finally:
        pair.ask("spark1", "systemctl", "stop", LISTENER)


@pytest.fixture
def inventory_with_a_wrong_address(any_pair: Pair, tmp_path: Path) -> Path:
    """Return a copy of the inventory in which spark1's fabric address is one that no host has."""
    for file in any_pair.inventory.rglob("*.yml"):
        target = tmp_path / file.relative_to(any_pair.inventory)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    hosts = tmp_path / "hosts.yml"
    document = yaml.safe_load(hosts.read_text(encoding="utf-8"))
    document["sparks"]["hosts"]["spark1"]["fabric_links"][0]["address"] = "10.100.0.77/24"
    hosts.write_text(yaml.safe_dump(document), encoding="utf-8")
    return tmp_path


def test_wrong_master_address(any_pair: Pair, inventory_with_a_wrong_address: Path, record: Record) -> None:
    text = any_pair.refused(inventory=inventory_with_a_wrong_address)
    assert "10.100.0.77" in text, text
    any_pair.wait_generating()
    record(Outcome("wrong master address", f"refused: {sentence(text, '10.100.0.77')}"))


@pytest.mark.parametrize(
    ("what", "address", "port", "variable"),
    [("API", "0.0.0.0", 8100, "serving_port"), ("master", "10.100.0.1", 29601, "serving_master_port")],
)
def test_port_taken(what: str, address: str, port: int, variable: str, any_pair: Pair, record: Record) -> None:
    with listener(any_pair, address, port):
        text = any_pair.refused({variable: port})
    assert str(port) in text, text
    any_pair.wait_generating()
    record(Outcome(f"{what} port taken", f"refused: {sentence(text, str(port))}"))
