# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sort of machine a host is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import machine
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw

HOST = Path(__file__).parents[4] / "fixtures" / "host"


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (Raw(files={"/run/systemd/container": "docker\n"}), True),
        (Raw(files={"/proc/1/environ": "PATH=/bin\0container=docker\0"}), True),
        (Raw(links={"/.dockerenv": "/.dockerenv"}), True),
        (Raw(files={"/run/systemd/container": "", "/proc/1/environ": "HOME=/\0container=\0mycontainer=x\0"}), False),
        (Raw(denied=frozenset({"/proc/1/environ"})), False),
        (Raw(), False),
    ],
)
def test_a_container_is_known(raw: Raw, found: bool) -> None:
    assert machine.in_container(raw) is found


def test_the_last_update_over_the_network_is_the_version_of_dgx_os() -> None:
    text = (HOST / "dgx-release-spark").read_text(encoding="utf-8")
    assert machine.dgx_os(text) == "7.5.0"
    assert machine.dgx_os(text.partition("DGX_OTA")[0]) == "7.2.3"
    assert machine.dgx_os("") == ""


def test_assignments_are_read_with_quotes_and_without() -> None:
    text = "# no=thing\nNAME=\"Ubuntu\"\nID=ubuntu\nEMPTY=\nA='b'\nnot one\nNTP=no\nNTP=yes\n"
    assert machine.assignments(text) == {"NAME": "Ubuntu", "ID": "ubuntu", "EMPTY": "", "A": "b", "NTP": "yes"}


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("24.04", (24, 4)),
        ("26.1.5+dfsg1", (26, 1, 5)),
        ("29.6.2-1~ubuntu", (29, 6, 2)),
        ("3.13.0rc1", (3, 13, 0)),
        ("trixie/sid", ()),
        ("", ()),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, found: tuple[int, ...]) -> None:
    assert machine.numbers(version) == found


def test_n06_a_name_is_found_wherever_it_stands_in_the_hosts_file() -> None:
    text = (
        "127.0.0.1 localhost\n127.0.1.1\tspark-a.lan  spark-a # me\n#192.0.2.1 spark-a\n192.0.2.11 fabric-a spark-a\n"
    )
    assert machine.addresses_of(text, "spark-a") == ["127.0.1.1", "192.0.2.11"]
    assert machine.addresses_of(text, "spark") == []
