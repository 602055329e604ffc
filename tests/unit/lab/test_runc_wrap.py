# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the wrapper takes out of a container's description."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

from lab.host_image import runc_wrap

UNLIMITED = (1 << 64) - 1


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make memlock 8 MiB here and everything else unlimited."""
    hard = {resource.RLIMIT_MEMLOCK: 8 << 20}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (0, hard.get(kind, resource.RLIM_INFINITY)))


def test_capability_is_taken_out_of_every_set() -> None:
    process = {
        "capabilities": {"bounding": ["CAP_SYS_RESOURCE", "CAP_KILL"], "effective": ["CAP_KILL"], "ambient": None}
    }
    runc_wrap.allow_process(process)
    assert process["capabilities"] == {"bounding": ["CAP_KILL"], "effective": ["CAP_KILL"], "ambient": []}


@pytest.mark.parametrize(
    ("kind", "asked", "given"),
    [
        ("RLIMIT_MEMLOCK", (UNLIMITED, UNLIMITED), (8 << 20, 8 << 20)),
        ("RLIMIT_MEMLOCK", (4096, UNLIMITED), (4096, 8 << 20)),
        ("RLIMIT_STACK", (67108864, 67108864), (67108864, 67108864)),
        ("RLIMIT_NOFILE", (UNLIMITED, UNLIMITED), (UNLIMITED, UNLIMITED)),
    ],
)
def test_limits_are_clamped(kind: str, asked: tuple[int, int], given: tuple[int, int]) -> None:
    process = {"rlimits": [{"type": kind, "soft": asked[0], "hard": asked[1]}]}
    runc_wrap.allow_process(process)
    assert process["rlimits"] == [{"type": kind, "soft": given[0], "hard": given[1]}]


@pytest.mark.parametrize(("asked", "given"), [(-500, 0), (0, 0), (300, 300)])
def test_oom_score(asked: int, given: int) -> None:
    process = {"oomScoreAdj": asked}
    runc_wrap.allow_process(process)
    assert process["oomScoreAdj"] == given


def test_process_without_limits_stays_as_it_is() -> None:
    process = {"args": ["true"]}
    runc_wrap.allow_process(process)
    assert process == {"args": ["true"]}


def test_bundle_is_edited_in_place_and_keeps_the_rest(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"root": {"path": "r"}, "process": {"oomScoreAdj": -1}}), encoding="utf-8")
    runc_wrap.edit_file(config, "process")
    assert json.loads(config.read_text(encoding="utf-8")) == {"root": {"path": "r"}, "process": {"oomScoreAdj": 0}}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["--root", "/r", "create", "--bundle", "/b", "id"], "/b"),
        (["create", "--bundle=/b", "id"], "/b"),
        (["run", "-b", "/b", "id"], "/b"),
        (["create", "id"], None),
        (["create", "id", "--bundle"], None),
    ],
)
def test_option(arguments: list[str], value: str | None) -> None:
    assert runc_wrap.option(arguments, "--bundle", "-b") == value


@pytest.mark.parametrize(("mask", "lacking"), [("000001fffeffffff", True), ("000001ffffffffff", False)])
def test_lacks_capability(mask: str, lacking: bool) -> None:
    assert runc_wrap.lacks_capability(f"Name:\tx\nCapEff:\t{mask}\n") is lacking
