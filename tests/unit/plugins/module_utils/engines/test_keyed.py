# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The start line that gives an engine its key, run by a real shell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import keyed

FILE = "/etc/dgxspark-serving/engine.key"
CONTAINER = {"entrypoint": ["vllm"], "command": ["serve", "m"], "env": {}, "mounts": [{"source": "a", "target": "b"}]}
# As the engine would: says what it was given.
ENGINE = "import json, os, sys; print(json.dumps([os.environ['VLLM_API_KEY'], sys.argv[1:]]))"


def start(tmp_path: Path, content: str | None) -> subprocess.CompletedProcess[str]:
    """Run the line with a key file of the test's own."""
    key_file = tmp_path / "engine.key"
    if content is not None:
        key_file.write_text(content, encoding="utf-8")
    found = keyed.keyed({**CONTAINER, "entrypoint": [sys.executable, "-c", ENGINE]}, FILE)
    shell, flag, script, *engine = found["entrypoint"]
    argv = [shell, flag, script.replace(keyed.KEY_MOUNT, str(key_file)), *engine, "serve", "a b", "$HOME", "'"]
    return subprocess.run(argv, check=False, capture_output=True, text=True)


def test_without_a_key_nothing_changes() -> None:
    assert keyed.keyed(CONTAINER, "") == CONTAINER


def test_the_key_is_mounted_and_in_no_argument() -> None:
    found = keyed.keyed(CONTAINER, FILE)
    assert found["entrypoint"][:2] == ["sh", "-c"]
    assert found["entrypoint"][3:] == ["vllm"]
    assert found["mounts"] == [{"source": "a", "target": "b"}, {"source": FILE, "target": keyed.KEY_MOUNT}]
    assert (found["command"], found["env"]) == (CONTAINER["command"], {})


def test_the_engine_gets_the_key_and_its_arguments_as_they_are(tmp_path: Path) -> None:
    done = start(tmp_path, "example-$(id)-key\n")
    assert json.loads(done.stdout) == ["example-$(id)-key", ["serve", "a b", "$HOME", "'"]]


@pytest.mark.parametrize(
    ("content", "words"), [(None, "No such file"), ("", "there is no key"), ("\n", "there is no key")]
)
def test_an_engine_does_not_start_open_to_all_without_its_key(tmp_path: Path, content: str | None, words: str) -> None:
    done = start(tmp_path, content)
    assert (done.returncode != 0, done.stdout) == (True, "")
    assert words in done.stderr
