# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demonstration prints and reads."""

from __future__ import annotations

import sys

from tools.chat_stream import Answer
from tools.demo import playbook_of, reminder, shown_command, speed_line
from tools.inventory_hosts import hosts_of


def test_hosts_of_all_groups_in_order() -> None:
    inventory = {
        "sparks": {"hosts": {"spark2": {"ansible_host": "192.0.2.2"}, "spark1": {"ansible_host": "192.0.2.1"}}},
        "all": {"children": {"other": {"hosts": {"spark1": None, "plain": {}}}, "empty": None}},
    }
    assert hosts_of(inventory) == {"spark2": "192.0.2.2", "spark1": "192.0.2.1", "plain": "plain"}
    assert list(hosts_of(inventory)) == ["spark2", "spark1", "plain"]


def test_speed_line() -> None:
    line = speed_line("spark1", Answer(tokens=101, first_token=0.5, total=1.5))
    assert line == "spark1: 101 tokens, first after 0.50 s, then 100.0 tok/s"


def test_commands_are_shown_as_typed() -> None:
    assert shown_command([sys.executable, "-m", "lab", "up"]) == "python -m lab up"


def test_reminder_names_what_can_be_done_next() -> None:
    gone, kept = (reminder("inventories/lab", "demo", "double", kept) for kept in (False, True))
    assert "python -m lab up --name demo --engine double --gateway --inventory inventories/lab" in gone
    assert "ansible-playbook -i inventories/lab benchmark.yml -e suite=quick" in kept
    assert "lab up" not in kept
    assert kept.splitlines()[-1] == "  python -m lab down --name demo"


def test_a_backend_serves_on_all_hosts_together() -> None:
    assert playbook_of("") == ["deploy-tp1.yml"]
    assert playbook_of("ray") == ["deploy-tp2.yml", "-e", "backend=ray"]
    assert "deploy-tp2.yml -e backend=ray" in reminder("inventories/lab", "demo", "double", False, "ray")
