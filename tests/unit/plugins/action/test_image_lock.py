# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock is written once, of what hosts have."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.action import image_lock
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image

ONE = asdict(Image("sha256:1", ("acme/vllm@sha256:aaaa",), "arm64", ("l1",)))
TWO = asdict(Image("sha256:2", ("acme/vllm@sha256:bbbb",), "arm64", ("l2",)))
WANTED = {"a": "acme/vllm:1", "b": "acme/vllm:1", "c": "acme/other:1"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks/image.lock.yml"


def run(path: Path, state: str, host: str = "a", check: bool = False, **options: Any) -> dict[str, Any]:
    images = options.pop("images", {"a": ONE, "c": TWO})
    versions = {"vllm": "0.32.0"}
    arguments = {
        "path": str(path),
        "plan": {"ranks": {name: {"container": {"image": image}} for name, image in WANTED.items()}},
        "state": state,
        "info_variable": "here",
        **options,
    }
    task = MagicMock(args=arguments, check_mode=check, async_val=0)
    plugin = image_lock.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
    hostvars = {
        name: {"here": {"image": images[name], "versions": versions} if name in images else None} for name in WANTED
    }
    return plugin.run(task_vars={"inventory_hostname": host, "hostvars": hostvars, "ansible_play_hosts": list(WANTED)})


def test_one_host_of_each_image_is_asked(path: Path) -> None:
    assert [run(path, "looked", host)["ask"] for host in "abc"] == [True, False, True]
    assert run(path, "looked")["missing"] == ["acme/other:1", "acme/vllm:1"]


def test_written_once_and_again_when_it_is_updated(path: Path) -> None:
    assert run(path, "written", check=True)["changed"]
    assert not path.exists()
    assert run(path, "written")["changed"]
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Which image each name stands for")
    found = yaml.safe_load(text)
    assert list(found) == ["acme/other:1", "acme/vllm:1"]
    assert (found["acme/vllm:1"]["digests"], found["acme/vllm:1"]["versions"]) == (["sha256:aaaa"], {"vllm": "0.32.0"})
    newer = {"a": TWO, "c": TWO}
    assert run(path, "looked")["missing"] == []
    assert not run(path, "written", images=newer)["changed"]
    assert not run(path, "written", update=True)["changed"]
    updated = run(path, "written", update=True, images=newer)
    assert (updated["changed"], updated["changes"]["acme/vllm:1"]) == (True, ["sha256:aaaa -> sha256:bbbb"])
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["acme/vllm:1"]["digests"] == ["sha256:bbbb"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_that_cannot_be_written(path: Path) -> None:
    path.parent.write_text("a file, not a folder", encoding="utf-8")
    found = run(path, "written")
    assert found["failed"]
    assert found["msg"].startswith(f"image_lock_file {path} cannot be ")
