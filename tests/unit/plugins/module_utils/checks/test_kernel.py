# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of kernel settings."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import tuning
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import kernel
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import GROUPS
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw

RMEM, BIG, CONGESTION = "net.core.rmem_max", "536870912", sysctl.CONGESTION
OURS = tuning.SYSCTL_PATH


def checks(
    wanted: dict[str, str], now: dict[str, str], files: dict[str, str], **raw: dict[str, str]
) -> dict[str, Check]:
    """All answers, by the word of their id.

    :param now: values in force, by key
    :param files: other files
    """
    text = {**{sysctl.file_of(key): value for key, value in now.items()}, **files}
    found = kernel.checks(Raw(text, raw.get("links", {})), Want(sysctl=wanted))
    return {check.id.removeprefix("kernel."): check for check in found}


def test_one_answer_for_each_id() -> None:
    assert tuple(checks({}, {}, {})) == GROUPS["kernel"]
    assert tuple(checks(tuning.SYSCTL, {}, {"/etc/sysctl.d/a.conf": "= \n cut"})) == GROUPS["kernel"]


def test_a_prepared_host() -> None:
    now = {key: value.replace(" ", "\t") + "\n" for key, value in tuning.SYSCTL.items()}
    now[sysctl.AVAILABLE] = "reno cubic bbr\n"
    found = checks(tuning.SYSCTL, now, {OURS: tuning.sysctl_file(tuning.SYSCTL)})
    assert {check.status for check in found.values()} == {"pass", "skip"}
    assert found["sysctl"].found == "9 settings as wanted"
    assert found["sysctl_boot"].status == "pass"


def test_an_unprepared_host_is_told_once() -> None:
    found = checks({RMEM: BIG}, {RMEM: "212992\n"}, {})
    assert (found["sysctl"].status, found["sysctl_boot"].status) == ("warn", "pass")
    assert (found["sysctl"].found, found["sysctl"].wanted) == (f"{RMEM} 212992", f"{RMEM} {BIG}")


def test_many_settings_are_cut_short() -> None:
    check = checks(tuning.SYSCTL, dict.fromkeys(tuning.SYSCTL, "0"), {})["sysctl"]
    assert check.found == "9 of 9 settings differ: net.core.rmem_max 0, net.core.wmem_max 0 and 7 more"
    assert check.wanted == f"net.core.rmem_max {BIG}, net.core.wmem_max {BIG} and 7 more"
    assert all(f"{key} 0" in check.detail for key in tuning.SYSCTL)


def test_s01_a_kernel_without_bbr_is_no_fault() -> None:
    wanted, now = {CONGESTION: "bbr", RMEM: BIG}, {CONGESTION: "cubic", RMEM: BIG, sysctl.AVAILABLE: "reno cubic"}
    assert checks(wanted, now, {})["sysctl"].found == "1 settings as wanted"
    module = "/lib/modules/6.11.0-1/kernel/net/ipv4/tcp_bbr.ko.zst"
    for release, status in (("6.11.0-1", "warn"), ("6.14.0-1", "pass")):
        found = checks(wanted, now, {kernel.RELEASE: release}, links={module: module})
        assert found["sysctl"].status == status


def test_s05_a_remark_names_file_and_line() -> None:
    found = checks({}, {}, {"/etc/sysctl.d/50-net.conf": "\n\nnet.core.default_qdisc = fq   # for bbr\n"})[
        "sysctl_files"
    ]
    assert found.status == "warn"
    assert found.found == "/etc/sysctl.d/50-net.conf:3: net.core.default_qdisc = fq   # for bbr"


def test_s06_the_file_that_wins_after_the_boot() -> None:
    files = {
        "/etc/sysctl.d/99-spark.conf": f"{RMEM} = {BIG}\n",
        "/etc/sysctl.d/99-sysctl.conf": f"{RMEM} = 212992\n",
    }
    links = {"/etc/sysctl.d/99-sysctl.conf": "/etc/sysctl.conf"}
    found = checks({RMEM: BIG}, {RMEM: BIG}, files, links=links)
    assert found["sysctl"].status == "pass"
    assert found["sysctl_boot"].status == "warn"
    assert found["sysctl_boot"].found == f"{RMEM} after reboot 212992 (from /etc/sysctl.conf line 1)"


def test_a_setting_that_no_file_keeps() -> None:
    found = checks({RMEM: BIG}, {RMEM: BIG}, {})["sysctl_boot"]
    assert (found.status, found.found) == ("warn", f"{RMEM} is in no file")


@pytest.mark.parametrize("files", [{}, {sysctl.MOUNTS: "proc /proc/sys proc ro 0 0\n", sysctl.file_of(RMEM): "1"}])
def test_s09_what_cannot_be_set_is_no_fault(files: dict[str, str]) -> None:
    found = checks({RMEM: BIG}, {}, files)
    assert (found["sysctl"].status, found["sysctl_boot"].status) == ("skip", "skip")


def test_s10_an_unknown_key_of_somebody_else_is_no_fault() -> None:
    foreign = {"/etc/sysctl.d/10-old.conf": "net.bridge.bridge-nf-call-iptables = 1\n"}
    found = checks({RMEM: BIG}, {RMEM: BIG}, {**foreign, OURS: f"{RMEM} = {BIG}\n"})
    assert {found[word].status for word in ("sysctl", "sysctl_boot", "sysctl_files")} == {"pass"}


@pytest.mark.parametrize(
    ("transport", "out", "files", "status"),
    [
        ("roce", "LimitMEMLOCK=infinity\n", {}, "pass"),
        ("roce", "LimitMEMLOCK=8388608\n", {}, "warn"),
        ("roce", "", {}, "skip"),
        ("roce", "LimitMEMLOCK=8388608\n", {"/run/systemd/container": "docker\n"}, "skip"),
        ("socket", "LimitMEMLOCK=8388608\n", {}, "skip"),
    ],
)
def test_memlock(transport: str, out: str, files: dict[str, str], status: str) -> None:
    raw = Raw(files, outputs={kernel.LIMITS: Output(0, out)})
    assert kernel.memlock(raw, Want(transport=transport)).status == status


@pytest.mark.parametrize(
    ("removes", "user", "lingers", "world_size", "status"),
    [
        (True, "dev", False, 2, "warn"),
        (False, "dev", False, 2, "pass"),
        (True, "dev", True, 2, "pass"),
        (True, "dev", False, 1, "pass"),
        (True, "root", False, 2, "pass"),
    ],
)
def test_n02_remove_ipc(removes: bool, user: str, lingers: bool, world_size: int, status: str) -> None:
    check = kernel.remove_ipc(removes, user, lingers, world_size)
    assert check.status == status
    if status == "warn":
        assert "enable-linger dev" in check.remedy
        assert "RemoveIPC=no" in check.remedy


def test_facts() -> None:
    raw = Raw({sysctl.file_of("net.ipv4.tcp_rmem"): "4096\t1\t2\n"})
    wanted = {"net.ipv4.tcp_rmem": "4096 1 2", RMEM: BIG}
    assert kernel.facts(raw, Want(sysctl=wanted)) == {"sysctl": {"net.ipv4.tcp_rmem": "4096 1 2"}}
