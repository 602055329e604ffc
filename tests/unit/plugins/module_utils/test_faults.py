# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How faults are said."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault


def fault(host: str) -> Fault:
    return Fault("serving_port", "0", "1", "Set it", host)


def lines(*faults: Fault) -> list[str]:
    return str(ConfigurationError(faults)).splitlines()[1:]


def test_the_same_fault_of_several_hosts_is_one_line() -> None:
    assert lines(fault("a"), fault("b")) == ["  1. serving_port on hosts a, b: found 0, wanted 1. Set it."]


def test_many_hosts_are_counted() -> None:
    assert lines(*(fault(name) for name in "abcdef")) == [
        "  1. serving_port on 6 hosts (a, b, c, d, ...): found 0, wanted 1. Set it."
    ]


def test_a_repeated_fault_is_said_once() -> None:
    assert len(lines(fault("a"), fault("a"), Fault("x", "1", "2", "Set it"))) == 2
