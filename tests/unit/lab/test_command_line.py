# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the lab, up to the point where it would touch Docker."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import __main__ as command
from lab.faults import FAULTS


def test_defaults_of_up() -> None:
    options = command.command_line().parse_args(["up"])
    assert (options.name, options.hosts, options.engine) == ("demo", 2, [])
    assert (options.light, options.gateway) == (False, False)


def test_engines_keep_their_order() -> None:
    options = command.command_line().parse_args(["up", "--engine", "vllm-cpu", "--engine", "double"])
    assert options.engine == ["vllm-cpu", "double"]


def test_error_is_one_sentence_and_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(command, "connect", lambda: None)
    assert command.main(["status"]) == 1
    assert capsys.readouterr().err == (
        "lab: No Docker Engine answers, so no lab is up: `python -m lab up` starts both.\n"
    )


def test_faults_are_listed(capsys: pytest.CaptureFixture) -> None:
    assert command.main(["fault", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(FAULTS)


@pytest.mark.parametrize("arguments", [["plant"], ["plant", "spark1"], ["mend"]])
def test_fault_wants_a_host_and_to_be_planted_a_name(arguments: list[str], capsys: pytest.CaptureFixture) -> None:
    assert command.main(["fault", *arguments]) == 1
    assert "`python -m lab fault plant HOST FAULT`" in capsys.readouterr().err


def test_unknown_model_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr("lab.engines.engine.tiny_models", lambda: {"tiny": Path("tiny")})
    assert command.main(["model", "spark1", "huge"]) == 1
    assert "There is no lab model 'huge'; there are tiny." in capsys.readouterr().err


def test_down_without_an_engine_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "connect", lambda: None)
    assert command.main(["down"]) == 0


def test_unknown_engine_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(command, "ensure_engine", lambda: pytest.fail("nothing may be started"))
    assert command.main(["up", "--engine", "vlm"]) == 1
    assert "There is no lab engine 'vlm'" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "folder"), [("demo", Path("inventories/lab")), ("other", None)])
def test_inventory_folder(name: str, folder: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple] = []

    class Recorder:
        def __init__(self, _client: object, lab: str) -> None:
            self.lab = lab

        def up(self, *arguments: object) -> None:
            seen.append((self.lab, *arguments))

    monkeypatch.setattr(command, "ensure_engine", lambda: None)
    monkeypatch.setattr(command, "Lab", Recorder)
    assert command.main(["up", "--name", name]) == 0
    assert seen == [(name, 2, [], folder, False, False)]


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        ("host stop spark1", [("stop_host", "spark1")]),
        ("host start spark1 spark2", [("start_host", "spark1"), ("start_host", "spark2")]),
        ("wheels spark1 spark2", [("lay_gateway_wheels", "spark1"), ("lay_gateway_wheels", "spark2")]),
        ("host reboot spark2", [("reboot_host", "spark2")]),
        ("host crash spark1 spark2", [("crash_hosts", "spark1", "spark2")]),
        ("host restart-docker spark1", [("restart_docker", "spark1")]),
        ("kill engine spark1", [("kill_engine", "spark1")]),
        ("kill worker spark2", [("kill_worker", "spark2")]),
        ("kill supervisor spark2", [("kill_supervisor", "spark2")]),
    ],
)
def test_faults(arguments: str, calls: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, ...]] = []

    class Recorder:
        def __getattr__(self, name: str) -> object:
            return lambda *hosts: seen.append((name, *hosts))

    monkeypatch.setattr(command, "existing", lambda _name: Recorder())
    assert command.main(arguments.split()) == 0
    assert seen == calls
