# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of our files, and what other programs say: each a table."""

from __future__ import annotations

import math
import re

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import (
    clock,
    earlyoom,
    packages,
    runtime,
    texts,
    units,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.packages import Offer
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.units import Unit

# Captured from Debian 13, systemd 257.
SHOWN = """MainPID=86
OOMPolicy=continue
LimitMEMLOCK=8388608
OOMScoreAdjust=-500
Id=docker.service
LoadState=loaded
ActiveState=active
UnitFileState=enabled
NeedDaemonReload=yes

MainPID=0
OOMPolicy=
LimitMEMLOCK=infinity
OOMScoreAdjust=0
Id=earlyoom.service
LoadState=masked
ActiveState=inactive
UnitFileState=masked
NeedDaemonReload=no
"""


def test_units() -> None:
    assert units.parse(SHOWN) == {
        "docker.service": Unit(True, False, True, True, "enabled", 86, -500, "continue", 8388608),
        "earlyoom.service": Unit(False, True, False, False, "masked", 0, 0, "", math.inf),
    }
    assert units.parse("") == {}


# Captured from apt 3.0.
NEW = """Reading package lists...
The following NEW packages will be installed:
  docker.io runc
Inst runc (1.1.15 Debian:13/stable [amd64])
Inst libc6 [2.40-1] (2.41-1 Debian:13/stable [amd64])
Inst docker.io (26.1.5 Debian:13/stable [amd64])
Conf runc (1.1.15 Debian:13/stable [amd64])
"""


@pytest.mark.parametrize(
    ("out", "err", "wanted"),
    [
        (NEW, "", Offer(("runc", "docker.io"))),
        ("", "E: Unable to locate package earlyoom\n", Offer(unknown=("earlyoom",))),
        ("", "E: Package 'earlyoom' has no installation candidate\n", Offer(unknown=("earlyoom",))),
        ("", "W: old\nE: Unmet dependencies.\n", Offer(reason="Unmet dependencies.")),
        ("", "", Offer()),
    ],
)
def test_offers_of_apt(out: str, err: str, wanted: Offer) -> None:
    assert packages.offer(out, err) == wanted


def test_strangers_that_would_go_too() -> None:
    out = "Remv docker-compose [2.26]\nRemv docker.io [26.1.5]\nPurg runc [1.1]\n"
    assert packages.strangers(out, ["docker.io", "runc"]) == ["docker-compose"]


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("-M", "-M"),
        ("3145728,1572864", "3145728,1572864"),
        ("^(a|b)$", '"^(a|b)$$"'),
        (r"\(sd-pam\)", r'"\\(sd-pam\\)"'),
        ("100%", '"100%%"'),
    ],
)
def test_words_reach_a_program_through_systemd(word: str, wanted: str) -> None:
    assert texts.quoted(word) == wanted


def test_drop_ins_are_read_back() -> None:
    settings = {"OOMScoreAdjust": "-900", "LimitMEMLOCK": "infinity"}
    assert texts.read_drop_in(texts.drop_in(settings)) == settings


def test_a_command_takes_the_place_of_the_packages_own() -> None:
    rows = texts.command_drop_in(["/usr/bin/earlyoom", "-r", "3600"]).splitlines()
    assert rows[-3:] == ["[Service]", "ExecStart=", "ExecStart=/usr/bin/earlyoom -r 3600"]


def test_earlyoom_acts_on_memory_whatever_swap_there_is() -> None:
    words = earlyoom.command(3)
    assert words[words.index("-M") + 1] == f"{3 * 1024**2},{3 * 1024**2 // 2}"
    assert words[words.index("-s") + 1] == "100,100"


@pytest.mark.parametrize(
    "name", ["VLLM::EngineCor", "VLLM::Worker_TP", "EngineCore_DP0", "vllm", "ray::RayWorkerW", "sglang::schedul"]
)
def test_u02_engines_end_first(name: str) -> None:
    assert re.search(earlyoom.PREFER, name)
    assert not re.search(earlyoom.AVOID, name)


@pytest.mark.parametrize(
    "name",
    [
        "sshd",
        "sshd-session",
        "dockerd",
        "containerd",
        "containerd-shim",
        "systemd",
        "systemd-logind",
        "(sd-pam)",
        "init",
        "NetworkManager",
    ],
)
def test_u02_what_a_host_is_reached_by_is_spared(name: str) -> None:
    assert re.search(earlyoom.AVOID, name)
    assert not re.search(earlyoom.PREFER, name)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("2190, 97\n", clock.VERIFIED),
        ("2200, 50\n", clock.VERIFIED),
        ("2411, 97\n", clock.BROKEN),
        ("208, 0\n", clock.UNVERIFIED),
        ("[N/A], 97\n", clock.UNVERIFIED),
        ("Failed to initialize NVML: Unknown Error\n", clock.UNVERIFIED),
        ("", clock.UNVERIFIED),
    ],
)
def test_a_cap_is_proved_under_load_only(text: str, verdict: str) -> None:
    assert clock.judge(text, 2200)[0] == verdict


def test_the_verdict_says_clock_and_load() -> None:
    assert clock.judge("2411, 97", 2200)[1] == "The cap of 2200 MHz does not hold: 2411 MHz at 97 % load."


NVIDIA = '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (NVIDIA, True),
        ("", False),
        ("{}", False),
        ('{"runtimes": {"kata": {}}}', False),
        ("{broken", False),
        ("[]", False),
    ],
)
def test_d07_the_runtime_in_daemon_json(text: str, wanted: bool) -> None:
    assert runtime.named(text) is wanted


@pytest.mark.parametrize(
    ("before", "now", "wanted"),
    [
        ("", NVIDIA, True),
        ('{"debug": true}', '{"debug": true, "runtimes": {"nvidia": {}}}', True),
        ('{"runtimes": {"kata": {}}}', '{"runtimes": {"kata": {}, "nvidia": {}}}', True),
        ('{"runtimes": {}}', NVIDIA, True),
        ('{"debug": true}', NVIDIA, False),
        ("", '{"debug": true}', False),
        ("{broken", NVIDIA, False),
    ],
)
def test_d07_whether_the_old_daemon_json_may_come_back(before: str, now: str, wanted: bool) -> None:
    assert runtime.only_added(before, now) is wanted
