# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts and the time before them."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import budget


@pytest.mark.parametrize(("failures", "delay"), [(0, 0), (1, 0), (2, 5), (3, 15), (4, 30), (5, 60), (6, 60), (50, 60)])
def test_back_off(failures: int, delay: float) -> None:
    assert budget.delay([0.0] * failures) == delay


@pytest.mark.parametrize(("failures", "limit", "spent"), [(0, 0, False), (1, 0, True), (3, 3, False), (4, 3, True)])
def test_spent(failures: int, limit: int, spent: bool) -> None:
    assert budget.spent([0.0] * failures, limit) is spent


def test_only_failures_within_the_window_count() -> None:
    assert budget.within([0.0, 50.0, 99.0], now=100.0, window=50.0) == (99.0,)
