# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 2: kernel settings. Input and expectation are those of the fault's row."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import tuning
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import kernel
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output
from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_sysctl import HostSysctl
from tests.field.looked import answer, captured


class Host(HostFiles):
    """A host in a folder, with the kernel settings that it is given.

    :param modprobe: what each call of it gives
    """

    def __init__(self, root: Path, settings: dict[str, str], modprobe: Output | None = None) -> None:
        super().__init__(root)
        self.modprobe = modprobe
        self.ran: list[list[str]] = []
        for key, value in settings.items():
            self.write(sysctl.file_of(key), f"{value}\n")

    def run(self, argv: Sequence[str]) -> Output:
        self.ran.append(list(argv))
        assert argv[0] == "modprobe"
        assert self.modprobe is not None
        return self.modprobe


RMEM = "net.core.rmem_max"
BIG = "536870912"
AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"
CONGESTION = "/proc/sys/net/ipv4/tcp_congestion_control"


def test_s01_without_tcp_bbr_that_key_alone_is_left_out() -> None:
    wanted = {"net.ipv4.tcp_congestion_control": "bbr", RMEM: BIG}
    here = {AVAILABLE: "reno cubic\n", CONGESTION: "cubic\n", sysctl.file_of(RMEM): "212992\n"}
    check = answer(kernel, "kernel.sysctl", captured(here), sysctl=wanted)
    assert (check.status, check.found, check.wanted) == ("warn", f"{RMEM} 212992", f"{RMEM} {BIG}")
    # With the module on the disk it can be had.
    module = {
        "/lib/modules/6.17.0/kernel/net/ipv4/tcp_bbr.ko.zst": "/lib/modules/6.17.0/kernel/net/ipv4/tcp_bbr.ko.zst"
    }
    able = captured({**here, "/proc/sys/kernel/osrelease": "6.17.0\n"}, module)
    assert "tcp_congestion_control cubic" in answer(kernel, "kernel.sysctl", able, sysctl=wanted).found


def test_s01_the_role_sets_the_buffers_all_the_same(tmp_path: Path) -> None:
    """modprobe tcp_bbr -> rc 1 (module not found)."""
    wanted = {"net.ipv4.tcp_congestion_control": "bbr", RMEM: BIG}
    missing = Output(1, err="modprobe: FATAL: Module tcp_bbr not found in directory /lib/modules/6.17.0")
    settings = {sysctl.AVAILABLE: "reno cubic", sysctl.CONGESTION: "cubic", RMEM: "212992"}
    host = Host(tmp_path, settings, missing)
    done = HostSysctl(host).present(wanted, check_mode=False)
    assert host.ran == [["modprobe", "tcp_bbr"]]
    assert host.read(sysctl.file_of(RMEM)) == f"{BIG}\n"
    assert host.read(sysctl.file_of(sysctl.CONGESTION)) == "cubic\n"
    assert [key.key for key in done.keys if key.note] == ["net.ipv4.tcp_congestion_control"]
    [warning] = done.warnings
    assert "tcp_bbr not found" in warning
    kept = host.read(tuning.SYSCTL_PATH) or ""
    assert RMEM in kept
    assert "bbr" not in kept.replace(tuning.HEADER, "")


def test_s01_the_module_is_loaded_at_each_boot() -> None:
    assert tuning.MODULES_LOAD.splitlines()[-1] == "tcp_bbr"
    assert tuning.SYSCTL["net.ipv4.tcp_congestion_control"] == "bbr"


def test_s03_tabs_are_no_difference() -> None:
    wanted, found = "4096 87380 536870912", "4096\t87380\t536870912\n"
    assert sysctl.same(wanted, found)
    assert not sysctl.same("4096 87380 536870911", found)
    raw = captured({"/proc/sys/net/ipv4/tcp_rmem": found})
    assert answer(kernel, "kernel.sysctl", raw, sysctl={"net.ipv4.tcp_rmem": wanted}).status == "pass"
    assert f"net.ipv4.tcp_rmem = {wanted}\n" in tuning.sysctl_file({"net.ipv4.tcp_rmem": wanted})


def test_s03_the_second_run_changes_nothing(tmp_path: Path) -> None:
    host = Host(tmp_path, {"net.ipv4.tcp_rmem": "4096\t87380\t536870912"})
    wanted = {"net.ipv4.tcp_rmem": "4096 87380 536870912"}
    runs = [HostSysctl(host).present(wanted, check_mode=False).changed for _run in range(2)]
    # The first one writes our file; the value is right all along.
    assert runs == [True, False]
    assert host.read(sysctl.file_of("net.ipv4.tcp_rmem")) == "4096\t87380\t536870912\n"


def test_s05_a_remark_after_a_value_is_named_with_file_and_line() -> None:
    path = "/etc/sysctl.d/50-net.conf"
    raw = captured({path: "# net\n\nnet.core.default_qdisc = fq   # for bbr\n"})
    check = answer(kernel, "kernel.sysctl_files", raw)
    assert check.status == "warn"
    assert check.found.startswith(f"{path}:3: net.core.default_qdisc")
    rows = [line for line in tuning.sysctl_file(tuning.SYSCTL).splitlines() if "=" in line]
    assert rows
    assert not [row for row in rows if "#" in row or ";" in row]


def test_s06_the_file_that_wins_at_boot_is_named() -> None:
    files = {
        "/etc/sysctl.d/99-spark.conf": f"{RMEM} = {BIG}\n",
        "/etc/sysctl.d/99-sysctl.conf": f"{RMEM} = 212992\n",
        "/etc/sysctl.conf": f"{RMEM} = 212992\n",
        sysctl.file_of(RMEM): f"{BIG}\n",
    }
    raw = captured(files, {"/etc/sysctl.d/99-sysctl.conf": "/etc/sysctl.conf"})
    check = answer(kernel, "kernel.sysctl_boot", raw, sysctl={RMEM: BIG})
    assert check.status == "warn"
    assert check.found.startswith(f"{RMEM} after reboot 212992 (from /etc/sysctl.conf")
    # Ours sorts behind it.
    ours = captured({**files, tuning.SYSCTL_PATH: tuning.sysctl_file({RMEM: BIG})}, dict(raw.links))
    assert answer(kernel, "kernel.sysctl_boot", ours, sysctl={RMEM: BIG}).status == "pass"


S08 = """\
net.core.rmem_max=1048576
net.core.rmem_max = 536870912
net.core.wmem_max=536870912
net.core.rmem_max = 536870912
"""


def test_s08_the_last_row_wins_and_ours_has_one_for_each_key() -> None:
    rows = sysctl.settings("/etc/sysctl.d/99-spark.conf", S08)
    last = sysctl.effective(rows, RMEM)
    assert last is not None
    assert (last.value, last.line) == (BIG, 4)
    settings = {row.key: row.value for row in rows}
    once = tuning.sysctl_file(settings)
    keys = [line.partition(" = ")[0] for line in once.splitlines() if not line.startswith("#")]
    assert keys == [RMEM, "net.core.wmem_max"]
    again = {row.key: row.value for row in sysctl.settings(tuning.SYSCTL_PATH, once)}
    assert tuning.sysctl_file(again) == once


def test_s09_what_cannot_be_set_here_is_no_fault() -> None:
    files = {sysctl.file_of(RMEM): "212992\n", "/proc/self/mounts": "proc /proc/sys proc ro,nosuid,nodev 0 0\n"}
    check = answer(kernel, "kernel.sysctl", captured(files), sysctl={RMEM: BIG})
    assert check.status == "skip"
    missing = answer(kernel, "kernel.sysctl", captured(), sysctl={"net.core.default_qdisc": "fq"})
    assert missing.status == "skip"


def test_s09_the_role_says_which_key_it_could_not_set_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sysctl: setting key "net.core.rmem_max": Read-only file system."""
    host = Host(tmp_path, {RMEM: "212992", "net.core.wmem_max": "212992"})
    write = Path.write_text

    def refuse(path: Path, *args: Any, **options: Any) -> int:
        if path.name == "rmem_max":
            raise OSError(errno.EROFS, "Read-only file system")
        return write(path, *args, **options)

    monkeypatch.setattr(Path, "write_text", refuse)
    wanted = {RMEM: BIG, "net.core.wmem_max": BIG, "net.core.default_qdisc": "fq"}
    done = HostSysctl(host).present(wanted, check_mode=False)
    assert {key.key: key.note for key in done.keys} == {
        RMEM: "not possible here: Read-only file system",
        "net.core.wmem_max": "",
        "net.core.default_qdisc": "not possible here: this kernel has no such setting",
    }
    # For the next boot they are written all the same.
    assert all(key in (host.read(tuning.SYSCTL_PATH) or "") for key in wanted)


def test_s10_the_role_applies_its_own_keys_alone(tmp_path: Path) -> None:
    host = Host(tmp_path, {RMEM: "212992"})
    old = "net.bridge.bridge-nf-call-iptables = 1\n"
    host.write("/etc/sysctl.d/10-old.conf", old)
    done = HostSysctl(host).present({RMEM: BIG}, check_mode=False)
    assert [(key.key, key.note) for key in done.keys] == [(RMEM, "")]
    assert done.warnings == []
    assert host.ran == [], "sysctl --system would fail at the other file"
    assert host.read("/etc/sysctl.d/10-old.conf") == old


def test_s10_an_unknown_key_of_somebody_else_is_no_fault() -> None:
    files = {
        "/etc/sysctl.d/10-old.conf": "net.bridge.bridge-nf-call-iptables = 1\n",
        tuning.SYSCTL_PATH: tuning.sysctl_file({RMEM: BIG}),
        sysctl.file_of(RMEM): f"{BIG}\n",
    }
    for word in ("sysctl", "sysctl_boot", "sysctl_files"):
        assert answer(kernel, f"kernel.{word}", captured(files), sysctl={RMEM: BIG}).status == "pass", word
