# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as users write them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import variables

PORT = variables.BY_NAME["serving_port"]
SHARE = variables.BY_NAME["serving_gpu_memory_utilization"]


@pytest.mark.parametrize(
    ("variable", "value", "read"),
    [
        (PORT, "8001", 8001),
        (PORT, 8001.0, 8001),
        (PORT, None, 8000),
        (PORT, "", 8000),
        (SHARE, "0.85", 0.85),
        (SHARE, "", 0.7),
    ],
)
def test_read(variable: variables.Variable, value: Any, read: Any) -> None:
    assert variables.read(variable, value, "here") == (read, None)


@pytest.mark.parametrize(
    ("variable", "value"),
    [(PORT, True), (PORT, 8000.5), (PORT, [8000]), (SHARE, 0.96), (SHARE, "70 %"), (SHARE, False), (SHARE, "nan")],
)
def test_refused(variable: variables.Variable, value: Any) -> None:
    read, fault = variables.read(variable, value, "here", "spark1")
    assert read == variable.default
    assert fault is not None
    assert (fault.variable, fault.host) == ("here", "spark1")


def test_shared_prefixes_are_only_near_misses() -> None:
    known = ["model_cache_dir", "image_architecture"]
    found = variables.misspelt(["model_cache_dri", "model_of_my_car", "image_gallery", "anything"], known)
    assert [(fault.variable, fault.wanted) for fault in found] == [("model_cache_dri", "model_cache_dir")]


def test_own_prefixes_are_ours_alone() -> None:
    [fault] = variables.misspelt(["fabric_of_society"], [])
    assert fault.remedy == "Remove it, or look its name up in docs/variables.md"


@pytest.mark.parametrize("name", ["Chat", "chat_1", "-chat", "chat-", "", 7, "a" * 41, "a b"])
def test_names_that_no_container_can_have(name: Any) -> None:
    assert not variables.is_name(name)


def test_links_need_an_interface_and_know_their_keys() -> None:
    links, faults = variables.read_links(
        [{"address": "192.0.2.1/24"}, {"interface": "a", "address": "192.0.2.1/24", "mtu": 1}], "h"
    )
    assert [link["address"] for link in links] == ["192.0.2.1/24"]
    assert [fault.variable for fault in faults] == ["fabric_links[0]", "fabric_links[1].mtu"]


def test_every_default_is_a_value_of_its_own_kind() -> None:
    for variable in variables.VARIABLES:
        assert variables.read(variable, variable.default, variable.name) == (variable.default, None)
