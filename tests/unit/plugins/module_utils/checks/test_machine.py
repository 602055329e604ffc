# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host is the machine that is wanted."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import machine
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import GROUPS
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw

HOST = Path(__file__).parents[4] / "fixtures" / "host"
UTILS = Path(machine.__file__).parents[1]
UBUNTU = (HOST / "os-release-ubuntu-24.04").read_text(encoding="utf-8")
DEBIAN = (HOST / "os-release-debian-13").read_text(encoding="utf-8")
DGX = (HOST / "dgx-release-spark").read_text(encoding="utf-8")
OLD, NEW = "6.17.0-1032-nvidia", "7.0.0-1019-nvidia"
SYNCED = "NTP=yes\nNTPSynchronized=yes\n"
MODULE = "/lib/modules/{}/kernel/nvidia-580-open/nvidia.ko"
ROCE = Want(world_size=2, transport="roce")

SPARK_FILES = {
    "/etc/os-release": UBUNTU,
    "/etc/dgx-release": DGX,
    "/proc/sys/kernel/osrelease": f"{OLD}\n",
    "/proc/sys/kernel/hostname": "spark-a\n",
    "/etc/hosts": "127.0.0.1 localhost\n192.0.2.11 spark-a\n",
    "/proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz quiet\n",
}


def spark(
    releases: tuple[str, ...] = (OLD,), with_module: tuple[str, ...] = (OLD,), time: str = SYNCED, **files: str
) -> Raw:
    """A clean DGX Spark, but for what is given; in the names of files ``__`` stands for ``/`` and ``_`` for ``-``."""
    changed = {name.replace("__", "/").replace("_", "-"): text for name, text in files.items()}
    paths = [f"/boot/vmlinuz-{release}" for release in releases] + [MODULE.format(release) for release in with_module]
    return Raw(
        files={**SPARK_FILES, **changed},
        links={path: path for path in [*paths, "/run/systemd/system"]},
        outputs={
            "uname": Output(0, "aarch64\n"),
            "python": Output(0, "3.12.3"),
            "timedatectl": Output(0, time),
        },
    )


def statuses(found: list[Check]) -> dict[str, str]:
    return {check.id.partition(".")[2]: check.status for check in found}


def test_a_clean_spark_passes() -> None:
    found = machine.checks(spark(), ROCE)
    assert [check.id for check in found] == [f"machine.{word}" for word in GROUPS["machine"]]
    assert {check.status for check in found} == {"pass"}
    assert machine.facts(spark(), ROCE) == {
        "architecture": "aarch64",
        "os": "DGX OS 7.5.0 (Ubuntu 24.04.3 LTS)",
        "kernel": OLD,
        "python": "3.12.3",
        "hostname": "spark-a",
        "container": False,
    }


def test_nothing_at_all_is_no_traceback_and_no_fault() -> None:
    found = machine.checks(Raw(), ROCE)
    assert [check.id for check in found] == [f"machine.{word}" for word in GROUPS["machine"]]
    assert {check.status for check in found} <= {"skip", "pass"}


def test_in_a_container_clock_and_kernels_are_the_machines() -> None:
    raw = spark(time="NTPSynchronized=no\n", __proc__sys__kernel__osrelease=NEW, __run__systemd__container="docker\n")
    found = statuses(machine.checks(raw, ROCE))
    assert found["time_sync"] == found["rdma_kernel"] == found["next_kernel"] == "skip"
    assert found["os"] == found["architecture"] == "pass"


def test_another_architecture_is_no_spark() -> None:
    check = machine.architecture(Raw(outputs={"uname": Output(0, "x86_64\n")}))
    assert (check.status, check.found, check.wanted) == ("fail", "x86_64", "aarch64")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (UBUNTU, "pass"),
        (DEBIAN, "pass"),
        ('ID=debian\nPRETTY_NAME="Debian GNU/Linux forky/sid"\n', "pass"),
        ('ID=debian\nVERSION_ID="11"\n', "warn"),
        ('ID=ubuntu\nVERSION_ID="22.04"\n', "warn"),
        ("ID=nixos\nVERSION_ID=26.05\n", "warn"),
        ("", "skip"),
    ],
)
def test_operating_systems(text: str, status: str) -> None:
    assert machine.operating_system(spark(__etc__os_release=text)).status == status


def test_without_systemd_nothing_runs_the_engines() -> None:
    check = machine.operating_system(Raw(files={"/etc/os-release": DEBIAN}))
    assert (check.status, check.found) == ("fail", "Debian GNU/Linux 13 (trixie) without systemd")


@pytest.mark.parametrize(
    ("version", "status"), [("3.12.3", "pass"), ("3.10.0", "pass"), ("3.9.19", "fail"), ("", "skip")]
)
def test_a02_python_is_judged_by_its_version_alone(version: str, status: str) -> None:
    assert machine.python(Raw(outputs={"python": Output(0, version)})).status == status


def test_a02_facts_and_checks_import_only_the_standard_library() -> None:
    files = [*(UTILS / "facts").glob("*.py"), *(UTILS / "checks").glob("*.py")]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            roots = {name.partition(".")[0] for name in names}
            assert roots <= {*sys.stdlib_module_names, "ansible_collections"}, f"{file.name} imports {roots}"
    assert len(files) > 10


@pytest.mark.parametrize(
    ("hosts", "world_size", "status"),
    [
        ("127.0.0.1 localhost\n127.0.1.1 spark-a\n", 2, "warn"),
        ("127.0.0.1 localhost\n127.0.1.1 spark-a\n", 1, "pass"),
        ("127.0.0.1 localhost\n::1 spark-a\n", 2, "warn"),
        ("192.0.2.11 spark-a\n", 2, "pass"),
        ("nonsense spark-a\n", 2, "pass"),
        ("", 2, "pass"),
    ],
)
def test_n06_an_own_name_that_means_loopback_is_said(hosts: str, world_size: int, status: str) -> None:
    check = machine.hostname(spark(__etc__hosts=hosts), Want(world_size=world_size))
    assert check.status == status
    if "127.0.1.1" in hosts and status == "warn":
        assert check.found == "spark-a is 127.0.1.1 in /etc/hosts"
        assert "/etc/hosts" in check.remedy


@pytest.mark.parametrize(
    ("time", "status", "remedy"),
    [
        (SYNCED, "pass", ""),
        ("NTP=no\nNTPSynchronized=no\n", "warn", "timedatectl set-ntp true"),
        ("NTP=yes\nNTPSynchronized=no\n", "warn", "time server"),
        ("NTPSynchronized=no\n", "warn", "time server"),
        ("", "skip", ""),
    ],
)
def test_the_clock(time: str, status: str, remedy: str) -> None:
    check = machine.time_sync(spark(time=time))
    assert check.status == status
    assert remedy in check.remedy


@pytest.mark.parametrize(
    ("release", "command_line", "meminfo", "transport", "status"),
    [
        (OLD, "", "", "roce", "pass"),
        (NEW, "quiet", "", "roce", "fail"),
        (NEW, "quiet", "", "socket", "warn"),
        (NEW, "quiet kho=off", "", "roce", "pass"),
        (NEW, "quiet", "CmaTotal: 0 kB\nCmaFree: 9750528 kB\n", "roce", "fail"),
        (NEW, "quiet", "CmaTotal: 0 kB\nCmaFree: 0 kB\n", "roce", "pass"),
        ("", "", "", "roce", "skip"),
    ],
)
def test_a_kernel_that_breaks_rdma(release: str, command_line: str, meminfo: str, transport: str, status: str) -> None:
    raw = spark(__proc__sys__kernel__osrelease=release, __proc__cmdline=command_line, __proc__meminfo=meminfo)
    check = machine.rdma_kernel(raw, Want(transport=transport))
    assert check.status == status
    assert ("kho=off" in check.remedy) is (status in ("warn", "fail"))


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        (spark((OLD, "6.17.0-1040-nvidia"), (OLD,)), "warn", "linux-modules-nvidia-580-open-6.17.0-1040-nvidia"),
        (spark((OLD, "6.17.0-1040-nvidia"), (OLD, "6.17.0-1040-nvidia")), "pass", ""),
        (spark((OLD,), ("6.11.0-1016-nvidia",)), "skip", ""),
        (spark((OLD,), ()), "skip", ""),
        (spark((), (OLD,)), "skip", ""),
        (spark((OLD, NEW), (OLD, NEW)), "warn", "kho=off"),
        (
            spark((OLD, NEW), (OLD, NEW), __etc__default__grub='GRUB_CMDLINE_LINUX_DEFAULT="quiet kho=off"\n'),
            "pass",
            "",
        ),
    ],
)
def test_the_kernel_that_boots_next(raw: Raw, status: str, words: str) -> None:
    check = machine.next_kernel(raw, ROCE)
    assert check.status == status
    assert words in check.remedy
    assert bool(check.remedy) is (status == "warn")


def test_a_module_of_dkms_is_built_anew() -> None:
    links = [f"/boot/vmlinuz-{release}" for release in (OLD, "6.17.0-1040-nvidia")]
    links.append(f"/lib/modules/{OLD}/updates/dkms/nvidia.ko.zst")
    check = machine.next_kernel(Raw(links={path: path for path in links}), ROCE)
    assert check.remedy == "Before the next reboot, run: dkms autoinstall -k 6.17.0-1040-nvidia."
