# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of what is looked at once before and once after a run."""

from __future__ import annotations

import json

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import standing
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import docker_info, nvidia_smi
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import MISSING, Output, Raw

INFO = json.dumps({"ServerVersion": "28.5.1", "DockerRootDir": "/data/docker"})
APPS = "4242, /usr/bin/python3, 1024\n7, Xorg, [N/A]\n"
RAW = Raw({}, {}, {nvidia_smi.PROCESSES: Output(0, APPS), docker_info.INFO: Output(0, INFO)})


def test_processes_and_disks() -> None:
    assert standing.read(RAW, {"/data/docker": (5, 9), "/net": None}) == {
        "gpu_processes": [
            {"pid": 4242, "name": "/usr/bin/python3", "memory_mib": 1024.0},
            {"pid": 7, "name": "Xorg", "memory_mib": None},
        ],
        "disk": {"/data/docker": {"free": 5, "total": 9}, "/net": {"free": None, "total": None}},
    }


def test_a_host_without_nvidia_smi_has_no_list_and_one_without_processes_an_empty_one() -> None:
    nothing = Raw({}, {}, {nvidia_smi.PROCESSES: Output(MISSING)})
    assert standing.read(nothing, {}) == {"gpu_processes": None, "disk": {}}
    assert standing.read(Raw({}, {}, {nvidia_smi.PROCESSES: Output(0)}), {})["gpu_processes"] == []


def test_the_folders_that_are_wanted_and_dockers_each_once() -> None:
    assert standing.folders(RAW, ["", "/models", "/data/docker"]) == ["/models", "/data/docker"]
    assert standing.folders(Raw(), ["/models"]) == ["/models"]


def test_before_and_after_with_what_nobody_saw() -> None:
    now = {"gpu_processes": [], "disk": {"/": {"free": 1, "total": 2}}}
    assert standing.both(None, now) == {
        "gpu_processes": {"before": None, "after": []},
        "disk": {"before": None, "after": {"/": {"free": 1, "total": 2}}},
    }


def test_of_parts_the_first_before_and_the_last_after() -> None:
    parts = [{"disk": {"before": {}, "after": {"a": 1}}}, {"disk": {"before": {"b": 1}, "after": {"b": 2}}}, {}]
    assert standing.joined(parts) == {
        "gpu_processes": {"before": None, "after": None},
        "disk": {"before": {}, "after": {"b": 2}},
    }


def test_kept_in_a_file() -> None:
    assert standing.decoded(standing.encoded({"disk": {}})) == {"disk": {}}
    assert [standing.decoded(text) for text in ("", "{", "[]")] == [None, None, None]
