# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop around the module: what is shown, what is handed on, and what becomes of a failure."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import fabric_test_measure

REPORT = '{"end": {"sum_received": {"bits_per_second": 9.41e9}, "sum_sent": {"retransmits": 3}}}'
TCP = {
    "kind": "tcp",
    "over": ["enp1s0f0np0"],
    "jobs": [{"name": "tcp-client", "argv": ["iperf3"], "port_of": "tcp", "limit": 20}],
    "skipped": "",
    "remedy": "",
}
SKIPPED = {"kind": "rdma_latency", "over": ["rocep1s0f0"], "jobs": [], "skipped": "no RDMA", "remedy": "load it"}
RUNNING = {"ended": {}, "running": ["tcp-client"], "counters": {"before": {"enp1s0f0np0": 10}, "after": {}}}
ENDED = {
    "ended": {"tcp-client": {"code": 0, "out": REPORT, "err": ""}},
    "running": [],
    "counters": {"before": {"enp1s0f0np0": 900}, "after": {"enp1s0f0np0": 1010}},
}


class Loop:
    """The plugin with answers that are given; each takes eight seconds of a clock of its own."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any]], check_mode: bool = False
    ) -> None:
        self.now = 0.0
        self.answers = list(answers)
        self.given: list[dict[str, Any]] = []
        self.shown: list[str] = []
        arguments = {
            "pair": "spark1 - spark2",
            "measurements": [TCP, SKIPPED],
            "ports": {"tcp": 40001},
            "interfaces": ["enp1s0f0np0"],
        }
        task = MagicMock(args=arguments, check_mode=check_mode, async_val=0)
        make = fabric_test_measure.ActionModule
        self.plugin = make(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        monkeypatch.setattr(self.plugin, "_execute_module", self.execute)
        monkeypatch.setattr(fabric_test_measure.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(fabric_test_measure.Display, "display", lambda display, text: self.shown.append(text))

    def execute(self, module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        assert module_name == "dgxspark.serving.fabric_test_jobs"
        self.given.append(module_args)
        self.now += 8
        return dict(self.answers.pop(0))

    def run(self) -> dict[str, Any]:
        return self.plugin.run(task_vars={})


def test_it_measures_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [RUNNING, ENDED])
    first, second = loop.run()["results"]
    assert (first["value"], first["retransmits"], first["failed"]) == (9.41, 3, "")
    # From the first look's counters to the last one's.
    assert first["moved"] == {"enp1s0f0np0": 1000}
    assert second["skipped"] == "no RDMA"
    assert loop.shown == [
        "spark1 - spark2: TCP (iperf3) over enp1s0f0np0: running since 8 s",
        "spark1 - spark2: TCP (iperf3) over enp1s0f0np0: 9.41 Gb/s, 3 resent",
    ]
    assert loop.given[0]["ports"] == {"tcp": 40001}
    # It is started once.
    assert [bool(given.get("start")) for given in loop.given] == [True, False]


def test_a_module_that_fails_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Loop(monkeypatch, [{"failed": True, "msg": "Unreachable."}]).run()
    assert not result.get("failed")
    assert result["results"][0]["failed"] == "Unreachable."


def test_check_mode_measures_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch, [], check_mode=True)
    assert loop.run()["skipped"]
    assert loop.given == []
