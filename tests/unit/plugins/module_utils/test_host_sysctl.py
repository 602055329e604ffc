# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings set on a host, and put back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import host_sysctl, tuning
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import RECORDS, HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_sysctl import HostSysctl

RMEM, WMEM, TCP, CONGESTION = "net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_rmem", sysctl.CONGESTION
BIG = "536870912"
WANTED = {RMEM: BIG, TCP: "4096 87380 536870912", CONGESTION: "bbr"}
BEFORE = {RMEM: "212992\n", TCP: "4096\t131072\t6291456\n", CONGESTION: "cubic\n", sysctl.AVAILABLE: "reno cubic\n"}


class SysctlHost(HostFiles):
    """Settings as files, and a modprobe.

    :ivar has_bbr: whether there is a module
    :ivar loads: how often it was loaded
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.has_bbr, self.loads = True, 0
        for key, value in BEFORE.items():
            self.write(sysctl.file_of(key), value)

    def run(self, argv: Sequence[str]) -> Output:
        assert argv[0] == "modprobe" and argv[-1] == "tcp_bbr"
        if not self.has_bbr:
            return Output(1, err="modprobe: FATAL: Module tcp_bbr not found in directory /lib/modules/7.0\n")
        if "--dry-run" not in argv:
            self.loads += 1
            self.write(sysctl.file_of(sysctl.AVAILABLE), "reno cubic bbr\n")
        return Output(0)

    def now(self, key: str) -> str:
        return " ".join((self.read(sysctl.file_of(key)) or "").split())


@pytest.fixture
def host(tmp_path: Path) -> SysctlHost:
    return SysctlHost(tmp_path)


def notes(done: host_sysctl.Done) -> dict[str, str]:
    return {key.key: key.note for key in done.keys}


def test_set_now_and_for_each_boot_and_back(host: SysctlHost) -> None:
    done = HostSysctl(host).present(WANTED, False)
    assert done.changed
    assert notes(done) == dict.fromkeys(WANTED, "")
    assert {key: host.now(key) for key in WANTED} == WANTED
    assert host.read(tuning.SYSCTL_PATH) == tuning.sysctl_file(WANTED)
    assert host.read(tuning.MODULES_PATH) == tuning.MODULES_LOAD
    assert [(key.was, key.now) for key in done.keys if key.key == RMEM] == [("212992", BIG)]
    assert HostSysctl(host).restored(False).changed
    assert {key: host.read(sysctl.file_of(key)) for key in WANTED} == {key: BEFORE[key] for key in WANTED}
    assert not any(host.path(path).exists() for path in (tuning.SYSCTL_PATH, tuning.MODULES_PATH, RECORDS))
    assert not HostSysctl(host).restored(False).changed


def test_s03_a_second_run_changes_nothing_though_the_kernel_answers_with_tabs(host: SysctlHost) -> None:
    HostSysctl(host).present(WANTED, False)
    host.write(sysctl.file_of(TCP), "4096\t87380\t536870912\n")
    again = HostSysctl(host).present(WANTED, False)
    assert not again.changed
    assert host.loads == 1


def test_check_mode_only_says_what_it_would_do(host: SysctlHost) -> None:
    done = HostSysctl(host).present(WANTED, True)
    assert done.changed
    assert done.files[tuning.SYSCTL_PATH] == (None, tuning.sysctl_file(WANTED))
    assert {key: host.read(sysctl.file_of(key)) for key in BEFORE} == BEFORE
    assert (host.loads, host.path("/etc").exists(), host.path("/var").exists()) == (0, False, False)
    HostSysctl(host).present(WANTED, False)
    assert HostSysctl(host).restored(True).changed
    assert host.now(RMEM) == BIG


def test_s01_without_bbr_only_that_key_is_skipped(host: SysctlHost) -> None:
    host.has_bbr = False
    done = HostSysctl(host).present(WANTED, False)
    assert (host.now(RMEM), host.now(CONGESTION)) == (BIG, "cubic")
    assert "tcp_bbr not found" in notes(done)[CONGESTION]
    assert "bbr" not in (host.read(tuning.SYSCTL_PATH) or "")
    assert host.read(tuning.MODULES_PATH) is None
    [warning] = done.warnings
    assert warning.startswith("This kernel has no bbr (modprobe: FATAL: Module tcp_bbr not found")
    assert not HostSysctl(host).present(WANTED, False).changed


def test_s01_a_module_that_brings_no_bbr_is_no_bbr(host: SysctlHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "run", lambda argv: Output(0))
    done = HostSysctl(host).present(WANTED, False)
    assert notes(done)[CONGESTION] == "not possible here: modprobe tcp_bbr gave code 0"


def test_s08_our_file_does_not_grow(host: SysctlHost) -> None:
    HostSysctl(host).present(WANTED, False)
    HostSysctl(host).present({**WANTED, RMEM: "1048576"}, False)
    rows = sysctl.settings(tuning.SYSCTL_PATH, host.read(tuning.SYSCTL_PATH) or "")
    assert [row.value for row in rows if row.key == RMEM] == ["1048576"]
    # The undo knows the value before the first run.
    HostSysctl(host).restored(False)
    assert host.now(RMEM) == "212992"


def test_s09_what_cannot_be_set_is_noted_and_the_file_is_written(
    host: SysctlHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = host.path(sysctl.file_of(RMEM))
    access = host_sysctl.os.access
    monkeypatch.setattr(host_sysctl.os, "access", lambda path, mode: path != refusing and access(path, mode))
    done = HostSysctl(host).present({**WANTED, WMEM: BIG}, False)
    assert notes(done) == {
        RMEM: "not possible here: it is read-only",
        TCP: "",
        CONGESTION: "",
        WMEM: "not possible here: this kernel has no such setting",
    }
    assert f"{WMEM} = {BIG}\n" in (host.read(tuning.SYSCTL_PATH) or "")
    assert not HostSysctl(host).present({**WANTED, WMEM: BIG}, False).changed


def test_s09_the_kernels_own_words(host: SysctlHost, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_text", refuse)
    done = HostSysctl(host).present({RMEM: BIG}, False)
    assert notes(done) == {RMEM: "not possible here: Read-only file system"}


def test_s10_only_our_own_keys_are_set(host: SysctlHost) -> None:
    host.write("/etc/sysctl.d/10-old.conf", "net.bridge.bridge-nf-call-iptables = 1\nnet.core.wmem_max = 1\n")
    host.write(sysctl.file_of(WMEM), "212992\n")
    done = HostSysctl(host).present(WANTED, False)
    assert (done.warnings, host.now(WMEM)) == ([], "212992")


def test_s06_a_file_that_beats_ours_is_named(host: SysctlHost) -> None:
    host.write("/etc/sysctl.d/zzz-other.conf", f"\n{RMEM} = 212992\n")
    host.write("/etc/sysctl.d/99-earlier.conf", "net.ipv4.tcp_rmem = 1 2 3\n")
    [warning] = HostSysctl(host).present(WANTED, False).warnings
    assert warning == (
        f"After the next boot {RMEM} is 212992, from /etc/sysctl.d/zzz-other.conf line 2, which is read after ours. "
        "Remove that row, or set it so in host_sysctl."
    )


def test_a_setting_that_is_not_wanted_any_more_goes_back(host: SysctlHost) -> None:
    HostSysctl(host).present(WANTED, False)
    done = HostSysctl(host).present({TCP: WANTED[TCP]}, False)
    assert done.changed
    assert (host.now(RMEM), host.now(CONGESTION)) == ("212992", "cubic")
    assert host.read(tuning.MODULES_PATH) is None
    assert list(host.record("sysctl") or {}) == [TCP]


def test_a_value_that_somebody_changed_since_is_his(host: SysctlHost) -> None:
    HostSysctl(host).present(WANTED, False)
    host.write(sysctl.file_of(RMEM), "4242\n")
    done = HostSysctl(host).restored(False)
    assert host.now(RMEM) == "4242"
    assert notes(done)[RMEM] == "left as it is: it was changed since"


def test_no_settings_at_all(host: SysctlHost) -> None:
    assert not HostSysctl(host).present({}, False).changed
    assert not host.path("/etc").exists()
    assert not host.path("/var").exists()
