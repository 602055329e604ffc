# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence: what it holds, and what it must never hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import evidence
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

SECRET = "sk-1234567890"


class Docker:
    """Docker with one container, or one that does not answer."""

    def __init__(self, answers: bool = True) -> None:
        self.answers = answers

    def inspect(self, name: str) -> dict[str, Any]:
        if not self.answers:
            raise ConnectionRefusedError("Connection refused")
        return {
            "Name": f"/{name}",
            "Args": ["serve", "--api-key", SECRET],
            "Config": {"Env": [f"HF_TOKEN={SECRET}", "EMPTY="], "Cmd": ["serve", f"--api-key={SECRET}", "--port", "1"]},
        }

    def logs(self, name: str, lines: int) -> bytes:
        return f"INFO non-default args: {{'api_key': ['{SECRET}'], 'port': 8000}}\nINFO Bearer {SECRET}\n".encode()


@pytest.fixture
def paths(tmp_path: Path) -> HostPaths:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 1 kB\n")
    return HostPaths(tmp_path)


def test_a07_no_secret_is_saved(paths: HostPaths) -> None:
    folder = evidence.collect(paths, Docker(), "r0", "hung", {"reason": "hung"}, 0.0)  # type: ignore[arg-type]
    assert folder == paths.evidence("r0") / "19700101T000000Z-hung"
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    assert json.loads(texts["why.json"]) == {"reason": "hung"}
    assert texts["meminfo"] == "MemTotal: 1 kB\n"
    assert json.loads(texts["inspect.json"])["Config"]["Env"] == ["HF_TOKEN=(left out)", "EMPTY=(left out)"]
    assert "'port': 8000" in texts["container.log"]
    assert not [name for name, text in texts.items() if SECRET in text]


def test_what_cannot_be_had_is_named(paths: HostPaths) -> None:
    folder = evidence.collect(paths, Docker(False), "r0", "hung", {}, 0.0)  # type: ignore[arg-type]
    errors = (folder / "errors.txt").read_text()
    assert "Docker: Connection refused" in errors
    assert "proc/pressure/memory" in errors


def test_a_disk_that_takes_nothing_is_no_fault(paths: HostPaths, capsys: pytest.CaptureFixture[str]) -> None:
    (paths.root / "var").write_text("not a folder")
    evidence.collect(paths, Docker(), "r0", "hung", {}, 0.0)  # type: ignore[arg-type]
    assert "evidence cannot be saved" in capsys.readouterr().out


def test_a_command_that_hangs_is_not_waited_for(paths: HostPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "COMMANDS", {"nvidia-smi.txt": ("sleep", "600")})
    monkeypatch.setattr(evidence, "COMMANDS_TIMEOUT", 0.1)
    folder = evidence.collect(paths, Docker(), "r0", "hung", {}, 0.0)  # type: ignore[arg-type]
    assert "nvidia-smi.txt: no end within 0.1 s" in (folder / "errors.txt").read_text()


def test_the_newest_five_are_kept(paths: HostPaths) -> None:
    for second in range(8):
        evidence.collect(paths, Docker(), "r0", "ended", {}, float(second))  # type: ignore[arg-type]
    kept = sorted(path.name for path in paths.evidence("r0").iterdir())
    assert kept == [f"19700101T00000{second}Z-ended" for second in range(3, 8)]


@pytest.mark.parametrize(
    ("argv", "hidden"),
    [
        (["--api-key", "a", "b"], ["--api-key", "(left out)", "b"]),
        (["--api-key=a", "--port", "1"], ["--api-key=(left out)", "--port", "1"]),
        (["--hf-token", "--port", "1"], ["--hf-token", "--port", "1"]),
        (["--tokenizer", "t", "--max-tokens", "8"], ["--tokenizer", "t", "--max-tokens", "8"]),
    ],
)
def test_values_of_secret_flags_are_left_out(argv: list[str], hidden: list[str]) -> None:
    assert evidence.hide_in_argv(argv) == hidden


@pytest.mark.parametrize(
    "line",
    [
        "generation throughput: 31.0 tokens/s, Running: 2 reqs",
        "num tokens: 5",
        "max_num_batched_tokens=8192",
        "keys: 3 values",
    ],
)
def test_figures_in_a_log_stay(line: str) -> None:
    assert evidence.hide_secrets(line) == line
