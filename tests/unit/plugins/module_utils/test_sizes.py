# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of sizes in words."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (35_200_000_000, "35.2 GB"),
        (10**9, "1.0 GB"),
        (42_000_000, "42 MB"),
        (10**6, "1 MB"),
        (900, "1 kB"),
        (0, "0 kB"),
    ],
)
def test_size(number: int, words: str) -> None:
    assert size(number) == words
