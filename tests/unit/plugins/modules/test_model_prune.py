# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module model_prune."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import leftovers
from ansible_collections.dgxspark.serving.plugins.modules import model_prune
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import (
    ID,
    REVISION,
    cached,
    folder,
)
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule

GONE = "bbbb2222"


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A cache with a model and an old snapshot of it."""
    cached(tmp_path)
    cached(tmp_path, revision=GONE, ref=None)
    return tmp_path


def call(
    monkeypatch: pytest.MonkeyPatch, hub: Path, model: str = ID, check_mode: bool = False, **options: Any
) -> dict[str, Any]:
    given = {"model": model, "hub": "huggingface", "revision": "", "keep": [], "cache_dir": str(hub), "remove": False}
    module = FakeModule({**given, **options}, check_mode)
    monkeypatch.setattr(model_prune, "AnsibleModule", lambda **arguments: module)
    with pytest.raises(Ended) as ended:
        model_prune.main()
    return ended.value.result


def snapshots(hub: Path) -> set[str]:
    return set(os.listdir(hub / "models--acme--tiny" / "snapshots"))


def test_it_only_tells_unless_asked(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    result = call(monkeypatch, hub)
    assert (result["changed"], "diff" in result, result["notes"]) == (False, False, [])
    assert {one["kind"] for one in result["leftovers"]} == {"snapshot", "blob"}
    assert snapshots(hub) == {REVISION, GONE}


def test_check_mode_says_what_would_go(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    would = call(monkeypatch, hub, remove=True, check_mode=True)
    assert would["changed"]
    assert snapshots(hub) == {REVISION, GONE}
    did = call(monkeypatch, hub, remove=True)
    assert did == would
    assert did["diff"]["before"].startswith(f"{hub}/models--acme--tiny/snapshots/{GONE}\n")
    assert snapshots(hub) == {REVISION}
    assert call(monkeypatch, hub, remove=True)["changed"] is False


def test_keep(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    assert call(monkeypatch, hub, keep=[GONE])["leftovers"] == []


def test_the_asked_for_revision_stays(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    assert call(monkeypatch, hub, revision=GONE)["leftovers"] == []


def test_half_a_model_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    (hub / "models--acme--tiny" / "snapshots" / REVISION / "config.json").unlink()
    result = call(monkeypatch, hub)
    assert (result["leftovers"], result["notes"]) == ([], [f"{ID} is not complete, so snapshots and blobs stay."])


def test_a_download_that_runs(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    folder(hub / "models--acme--tiny", {"blobs/x.incomplete": b""})
    result = call(monkeypatch, hub)
    said = f"A download or a copy of {ID} seems to run, so snapshots and blobs stay."
    assert (result["leftovers"], result["notes"]) == ([], [said])


def test_what_cannot_be_removed(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    def denied(one: leftovers.Leftover) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(model_prune.prune, "_delete", denied)
    result = call(monkeypatch, hub, remove=True)
    top = hub / "models--acme--tiny" / "snapshots"
    said = f"{top}/{GONE} (Permission denied; its folder belongs to {top.owner()})"
    assert result["msg"] == f"Leftovers of {ID} cannot be removed: {said}."


def test_no_model(monkeypatch: pytest.MonkeyPatch, hub: Path) -> None:
    result = call(monkeypatch, hub, model="no id")
    assert result["msg"] == "model is 'no id', wanted an absolute path or an id such as ORG/NAME."
