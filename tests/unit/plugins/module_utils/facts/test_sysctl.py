# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings in files and now."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import drop_ins, sysctl
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw

RMEM, BIG = "net.core.rmem_max", "536870912"
ETC, RUN, USR = "/etc/sysctl.d", "/run/sysctl.d", "/usr/lib/sysctl.d"


def winner(files: dict[str, str], links: dict[str, str] | None = None, key: str = RMEM) -> str | None:
    row = sysctl.effective(sysctl.at_boot(files, links or {}), key)
    return f"{row.value} (from {row.place})" if row else None


def test_s03_white_space_is_no_difference() -> None:
    assert sysctl.same("4096 87380 536870912", "4096\t87380\t536870912\n")
    assert not sysctl.same("4096 87380 536870912", "4096 87380")


@pytest.mark.parametrize(
    ("value", "remark"), [("fq   # for bbr", True), ("1 ; on", True), ("fq", False), ("|/usr/bin/dump#1 %p", False)]
)
def test_s05_a_remark_behind_a_value(value: str, remark: bool) -> None:
    [row] = sysctl.settings("/etc/sysctl.d/50-net.conf", f"# one\n\nnet.core.default_qdisc = {value}\n")
    assert (row.line, sysctl.has_remark(row.value)) == (3, remark)


def test_s06_sysctl_conf_wins_through_its_link() -> None:
    files = {f"{ETC}/99-spark.conf": f"{RMEM} = {BIG}\n", f"{ETC}/99-sysctl.conf": f"{RMEM} = 212992\n"}
    links = {f"{ETC}/99-sysctl.conf": sysctl.CLASSIC}
    assert winner({**files, sysctl.CLASSIC: f"{RMEM} = 212992\n"}, links) == "212992 (from /etc/sysctl.conf line 1)"


def test_s06_sysctl_conf_alone_is_not_read_by_systemd() -> None:
    files = {f"{ETC}/zz.conf": f"{RMEM} = {BIG}\n", sysctl.CLASSIC: f"{RMEM} = 1\n"}
    assert winner(files) == f"{BIG} (from {ETC}/zz.conf line 1)"
    units = "/usr/lib/systemd/system"
    assert winner(files, {sysctl.PROCPS: f"{units}/systemd-sysctl.service"}) == f"{BIG} (from {ETC}/zz.conf line 1)"
    assert winner(files, {sysctl.PROCPS: f"{units}/procps.service"}) == "1 (from /etc/sysctl.conf line 1)"


def test_s08_the_last_row_wins() -> None:
    text = f"{RMEM}=1048576\n{RMEM} = {BIG}\nnet.core.wmem_max={BIG}\n{RMEM} = 4\n"
    assert winner({f"{ETC}/a.conf": text}) == f"4 (from {ETC}/a.conf line 4)"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # By name over all folders; of one name the one in /etc; a masked one says nothing; other names do not count.
        ({f"{USR}/50-a.conf": f"{RMEM}=1", f"{ETC}/10-b.conf": f"{RMEM}=2"}, "1"),
        ({f"{USR}/50-a.conf": f"{RMEM}=1", f"{RUN}/50-a.conf": f"{RMEM}=2", f"{ETC}/50-a.conf": f"{RMEM}=3"}, "3"),
        ({f"{USR}/50-a.conf": f"{RMEM}=1", f"{ETC}/50-a.conf": ""}, None),
        ({f"{ETC}/50-a.conf.bak": f"{RMEM}=1", f"{ETC}/README": f"{RMEM}=1"}, None),
        # Spellings.
        ({f"{ETC}/a.conf": "-net/core/rmem_max = 5"}, "5"),
        ({f"{ETC}/a.conf": f"; {RMEM}=1\n#{RMEM}=1\n  {RMEM}\t=\t7  \n"}, "7"),
        ({f"{ETC}/a.conf": f"{RMEM}\n-{RMEM}\n=3"}, None),
        # A pattern counts, but never against the name itself.
        ({f"{ETC}/z.conf": "net.core.*_max = 8"}, "8"),
        ({f"{ETC}/z.conf": "net.core.*_max = 8", f"{ETC}/a.conf": f"{RMEM}=9"}, "9"),
    ],
)
def test_order(files: dict[str, str], expected: str | None) -> None:
    row = sysctl.effective(sysctl.at_boot(files, {}), RMEM)
    assert (row.value if row else None) == expected


@pytest.mark.parametrize(
    ("key", "path"),
    [
        (RMEM, "net/core/rmem_max"),
        ("net/core/rmem_max", "net/core/rmem_max"),
        ("net.ipv4.conf.eth0/100.rp_filter", "net/ipv4/conf/eth0.100/rp_filter"),
        ("net/ipv4/conf/eth0.100/rp_filter", "net/ipv4/conf/eth0.100/rp_filter"),
    ],
)
def test_a_key_is_a_path(key: str, path: str) -> None:
    assert sysctl.path_of(key) == path
    assert sysctl.is_key(key)


@pytest.mark.parametrize(
    "key", ["", "vm", "../../etc/passwd", "net..x", "net.core.*", "a b.c", "vm.x\n", "/proc/sys/vm/x"]
)
def test_no_key(key: str) -> None:
    assert not sysctl.is_key(key)


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        ("proc /proc proc rw 0 0\nproc /proc/sys proc ro,nosuid 0 0\n", True),
        ("proc /proc/sys proc ro 0 0\nproc /proc/sys proc rw 0 0\n", False),
        ("proc /proc proc rw 0 0\n", False),
        ("", False),
    ],
)
def test_s09_read_only(mounts: str, expected: bool) -> None:
    assert sysctl.read_only(Raw({sysctl.MOUNTS: mounts})) is expected


def test_drop_ins_of_folders_that_are_not_asked_for() -> None:
    assert drop_ins.ordered(["/x/a.conf", "/y/a.conf", "/y/b/c.conf", "/z/0.conf"], ["/x", "/y"]) == ["/x/a.conf"]
