# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module host_sysctl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import tuning
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.modules import host_sysctl
from ansible_collections.dgxspark.serving.tests.unit.plugins.modules.fake_module import Ended, FakeModule

RMEM, TCP = "net.core.rmem_max", "net.ipv4.tcp_rmem"
# Leaves all of ours alone but one, and adds one that no kernel has.
SETTINGS = {**dict.fromkeys(tuning.SYSCTL), RMEM: 42, TCP: "1 2 3", "vm.nothing": 1}


class SilentModule(FakeModule):
    """Has nothing to warn of."""

    def __init__(self, params: dict[str, Any]) -> None:
        super().__init__({"state": "present", "settings": {}, "strict": False, **params})

    def warn(self, text: str) -> None:
        raise AssertionError(text)


def call(monkeypatch: pytest.MonkeyPatch, root: Path, uid: int = 0, **params: Any) -> dict[str, Any]:
    monkeypatch.setattr(host_sysctl.os, "geteuid", lambda: uid)
    monkeypatch.setattr(host_sysctl, "HostFiles", lambda: HostFiles(root))
    monkeypatch.setattr(host_sysctl, "AnsibleModule", lambda **arguments: SilentModule(params))
    with pytest.raises(Ended) as ended:
        host_sysctl.main()
    return ended.value.result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    host = HostFiles(tmp_path)
    host.write(sysctl.file_of(RMEM), "7\n")
    host.write(sysctl.file_of(TCP), "1\t2\t3\n")
    return tmp_path


def test_needs_root(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    assert call(monkeypatch, root, uid=1000)["msg"] == (
        "Kernel settings can be changed by root only. Set become: true for this task."
    )


def test_s09_not_possible_is_a_failure_only_when_strict(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    result = call(monkeypatch, root, settings=SETTINGS)
    assert "failed" not in result
    assert [key["key"] for key in result["keys"] if key["note"]] == ["vm.nothing"]
    strict = call(monkeypatch, root, settings=SETTINGS, strict=True)
    assert strict["failed"]
    assert strict["msg"] == (
        "Not set on this host: vm.nothing (not possible here: this kernel has no such setting). "
        "Leave them out, or set strict: false."
    )


def test_the_diff_shows_files_and_values(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    diffs = {diff["after_header"]: diff for diff in call(monkeypatch, root, settings=SETTINGS)["diff"]}
    assert diffs[tuning.SYSCTL_PATH]["after"] == tuning.sysctl_file({RMEM: "42", TCP: "1 2 3", "vm.nothing": "1"})
    # White space is no change.
    assert (diffs["now"]["before"], diffs["now"]["after"]) == (f"{RMEM} = 7\n", f"{RMEM} = 42\n")


def test_a_setting_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    assert call(monkeypatch, root, settings={"rmem": 1})["msg"] == (
        "'rmem' is no kernel setting. Write it as 'sysctl -a' does, such as net.core.rmem_max."
    )


def test_restored(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    call(monkeypatch, root, settings=SETTINGS)
    assert call(monkeypatch, root, state="restored")["changed"]
    assert HostFiles(root).read(sysctl.file_of(RMEM)) == "7\n"
