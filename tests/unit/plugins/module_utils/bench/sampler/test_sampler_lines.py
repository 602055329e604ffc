# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of what a sampler writes down and of what is made of it."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import lines

TEXT = "".join(
    [
        lines.error_line("nvidia-smi hangs."),
        *(lines.sample_line({"t": float(second), "gpu": {"util_pct": None}}) for second in range(5)),
        lines.error_line("nvidia-smi hangs."),
    ]
)


def test_all_of_it() -> None:
    assert lines.snapshots("spark1", TEXT + lines.end_line(0.0123456, 5.00001)) == {
        "host": "spark1",
        "interval_s": 1.0,
        "samples": [{"t": float(second), "gpu": {"util_pct": None}} for second in range(5)],
        "cost": {"cpu_s": 0.012, "seconds": 5.0},
        "errors": ["nvidia-smi hangs."],
    }


@pytest.mark.parametrize("end", ['{"sample":{"t":5.0', '{"sample":{"t":5.0}', "\n\n", "7\n", "\x00\x00"])
def test_a_sampler_that_was_killed_leaves_what_it_had(end: str) -> None:
    found = lines.snapshots("spark1", TEXT + end)
    assert [sample["t"] for sample in found["samples"]] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert found["cost"] == {"cpu_s": None, "seconds": None}


def test_parts_of_a_run_that_was_broken_off_cost_together() -> None:
    text = lines.end_line(0.5, 10) + lines.sample_line({"t": 20.0}) + lines.end_line(0.25, 5)
    assert lines.snapshots("spark1", text)["cost"] == {"cpu_s": 0.75, "seconds": 15}


@pytest.mark.parametrize(
    ("count", "most", "kept", "step"),
    [
        (0, 3, [], 1),
        (3, 3, [0, 1, 2], 1),
        (4, 3, [0, 2, 3], 2),
        (7, 3, [0, 3, 6], 3),
        (8, 3, [0, 3, 6, 7], 3),
    ],
)
def test_of_many_samples_some_and_the_last(count: int, most: int, kept: list[int], step: int) -> None:
    text = "".join(lines.sample_line({"t": second}) for second in range(count))
    found = lines.snapshots("spark1", text, most)
    assert ([sample["t"] for sample in found["samples"]], found["interval_s"]) == (kept, float(step))


def test_a_sampler_that_nobody_ends_slows_down() -> None:
    counts = (0, lines.MOST - 1, lines.MOST, 3 * lines.MOST)
    assert [lines.interval_after(count) for count in counts] == [1.0, 1.0, 2.0, 8.0]
