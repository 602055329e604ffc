# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers of images are kept."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import MagicMock

from ansible_collections.dgxspark.serving.plugins.module_utils.images import answers, probe

ASKED = probe.question("", [], [])
SAID = 'DGXSPARK-PROBE {"versions": {"vllm": "0.32.0"}}\n'


def docker(code: int, out: str, err: str = "") -> MagicMock:
    fake = MagicMock(command="docker")
    fake.module.run_command.return_value = (code, out, err)
    return fake


def test_an_image_is_asked_once(tmp_path: Path) -> None:
    for _time in range(2):
        found = answers.ask(fake := docker(0, SAID), "sha256:1", ASKED, tmp_path / "probe", write=True)
        assert found == ({"versions": {"vllm": "0.32.0"}}, "")
    fake.module.run_command.assert_not_called()
    answers.ask(other := docker(0, SAID), "sha256:2", ASKED, tmp_path / "probe", write=False)
    assert other.module.run_command.call_count == 1
    assert len(list((tmp_path / "probe").iterdir())) == 1


def test_an_image_that_says_nothing_is_asked_again_and_its_container_goes(tmp_path: Path) -> None:
    fake = docker(127, "", "exec: python3:\n not found")
    assert answers.ask(fake, "sha256:1", ASKED, tmp_path / "probe", write=True) == (None, "exec: python3: not found")
    removed = fake.module.run_command.call_args_list[-1][0][0]
    assert removed == ["docker", "container", "rm", "--force", probe.container_name("sha256:1", ASKED)]
    assert not (tmp_path / "probe").exists()


def test_the_newest_answers_stay(tmp_path: Path) -> None:
    for number in range(answers.KEEP + 3):
        answers.ask(docker(0, SAID), f"sha256:{number}", ASKED, tmp_path, write=True)
    assert len(list(tmp_path.iterdir())) == answers.KEEP
