# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark of a deployment's own share compares with."""

from __future__ import annotations

from benchmarks.deploy_overhead import bare_command, flags, row
from lab.engines import ENGINES


def test_flags() -> None:
    assert flags({"enforce-eager": True, "max-model-len": 2048}) == ["--enforce-eager", "--max-model-len", "2048"]


def test_ranks_differ_in_rank_and_api() -> None:
    engine = ENGINES["double"]
    alone, first, second = (bare_command(engine, rank) for rank in (None, 0, 1))
    assert "--nnodes" not in alone
    assert alone[-4:] == first[-4:] == ["--host", "0.0.0.0", "--port", "8000"]
    assert second[-1] == "--headless"
    assert second[second.index("--node-rank") + 1] == "1"
    assert "VLLM_HOST_IP=10.100.0.2" in second


def test_the_difference_is_the_median_of_the_rounds_own() -> None:
    assert row("deploy-tp1.yml", "double", [(1.0, 5.0), (10.0, 12.0), (3.0, 6.0)])[2:] == ("3.0", "6.0", "3.0")
