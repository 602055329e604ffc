# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel settings of ours."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import tuning
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import sysctl

RMEM = "net.core.rmem_max"


def test_s01_bbr_is_loaded_at_each_boot() -> None:
    assert tuning.MODULES_LOAD.splitlines()[-1] == "tcp_bbr"


def test_s05_s08_one_row_for_each_key_and_no_remark() -> None:
    rows = sysctl.settings("ours", tuning.sysctl_file(tuning.SYSCTL))
    assert {row.key: row.value for row in rows} == tuning.SYSCTL
    assert len(rows) == len(tuning.SYSCTL)
    assert not [row for row in rows if sysctl.has_remark(row.value)]


def test_s06_our_file_sorts_behind_the_usual_ones() -> None:
    assert tuning.SYSCTL_PATH.rpartition("/")[2] > "99-sysctl.conf"


@pytest.mark.parametrize(
    ("overrides", "key", "value"),
    [
        ({}, RMEM, "536870912"),
        ({RMEM: 1048576}, RMEM, "1048576"),
        ({RMEM: None}, RMEM, None),
        ({"net/core/rmem_max": 7}, "net/core/rmem_max", "7"),
        ({"net/core/rmem_max": 7}, RMEM, None),
        ({"net.ipv4.tcp_rmem": "4096\t1  2 "}, "net.ipv4.tcp_rmem", "4096 1 2"),
        ({"net.ipv4.tcp_sack": True}, "net.ipv4.tcp_sack", "1"),
    ],
)
def test_overrides(overrides: dict[str, Any], key: str, value: str | None) -> None:
    assert tuning.wanted_sysctl(overrides).get(key) == value


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"rmem_max": 1}, "'rmem_max' is no kernel setting. Write it as 'sysctl -a' does, such as net.core.rmem_max"),
        ({"../../etc/x": 1}, "'../../etc/x' is no kernel setting"),
        ({RMEM: ""}, f"{RMEM} is ''. Give it a number or a text without a remark, or null to leave it alone"),
        ({RMEM: [1]}, f"{RMEM} is \\[1\\]"),
        ({RMEM: "1 # big"}, f"{RMEM} is '1 # big'"),
    ],
)
def test_overrides_that_cannot_be(overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace(".", "\\.")):
        tuning.wanted_sysctl(overrides)
