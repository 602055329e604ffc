# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client's place among all who want a processor."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import priority


def refuse(*_arguments: Any) -> None:
    raise PermissionError


@pytest.mark.parametrize(
    ("refused", "asked"),
    [((), ["real time"]), (("sched_setscheduler",), ["nice"]), (("sched_setscheduler", "nice"), [])],
)
def test_b13_it_takes_what_it_may_have(
    monkeypatch: pytest.MonkeyPatch, refused: tuple[str, ...], asked: list[str]
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda *_arguments: seen.append("real time"))
    monkeypatch.setattr(os, "nice", lambda _by: seen.append("nice"))
    for name in refused:
        monkeypatch.setattr(os, name, refuse)
    priority.come_first()
    assert seen == asked
