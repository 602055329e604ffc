# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Student's t and the F test, against the tables that every textbook has."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure import student


@pytest.mark.parametrize(
    ("share", "df", "value"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 4, 2.7764),
        (0.975, 9, 2.2622),
        (0.975, 30, 2.0423),
        (0.975, 120, 1.9799),
        (0.95, 5, 2.0150),
        (0.995, 3, 5.8409),
        (0.9995, 10, 4.5869),
        (0.80, 8, 0.8889),
        (0.5, 7, 0.0),
        (0.025, 4, -2.7764),
    ],
)
def test_quantiles_are_those_of_the_table(share: float, df: float, value: float) -> None:
    assert student.quantile(share, df) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize("df", [1, 1.7, 2.5, 4, 13.3, 400])
def test_probability_and_quantile_are_each_others_inverse(df: float) -> None:
    for share in (0.6, 0.9, 0.975, 0.9999):
        assert student.two_sided(student.quantile(share, df), df) == pytest.approx(2 * (1 - share), rel=1e-9)


@pytest.mark.parametrize(
    ("t", "df", "p"), [(0.0, 4, 1.0), (float("inf"), 4, 0.0), (2.7764, 4, 0.05), (-2.7764, 4, 0.05)]
)
def test_two_sided_probabilities(t: float, df: float, p: float) -> None:
    assert student.two_sided(t, df) == pytest.approx(p, abs=1e-5)


@pytest.mark.parametrize(("ratio", "df"), [(39.0, 2), (9.6045, 4), (4.9949, 7), (1 / 9.6045, 4)])
def test_the_f_test_has_the_table_s_five_percent(ratio: float, df: float) -> None:
    assert student.variances_alike(ratio, df) == pytest.approx(0.05, abs=1e-4)
