# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn: only what is valid, with intervals where they are known, and one colour for a target."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import (
    figures,
    figures_forest,
    figures_hosts,
    host_table,
    numbers,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import GIB
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.result.pretended_result import (
    all_failed,
    example,
    nothing_known,
    nothing_measured,
)


def named(found: list[Any]) -> dict[str, Any]:
    return {figure.id: figure for figure in found}


def rounds_with(times: dict[str, list[float | None]]) -> list[dict[str, Any]]:
    """A round for each point, whose requests had these TTFTs."""
    return [
        {
            "id": str(number),
            "point": point,
            "target": point.split("/")[2].split(":")[1],
            "warmup": False,
            "began": 100.0,
            "requests": [
                {"ttft_ms": time, "error": None, "measured": True, "t_write": 0.0, "t_end": 1.0} for time in found
            ],
        }
        for number, (point, found) in enumerate(times.items())
    ]


def test_lines_over_users_have_the_medians_and_intervals_of_the_points() -> None:
    found = example()
    curves = named(figures.of_cases(found["points"], []))["picture-short-en-output-tps"].curves
    assert [(curve.name, curve.colour) for curve in curves] == [("main-0", 0), ("gateway", 1)]
    first = found["points"][0]["stats"]["output_tps"]
    assert curves[0].values[0] == (1, first["median"], *first["ci95"])
    assert [value[0] for value in curves[0].values] == [1, 2, 4, 8]


def test_a_point_that_is_not_valid_is_not_drawn() -> None:
    found = example()
    before = named(figures.of_cases(found["points"], []))["picture-short-en-output-tps"].curves[0]
    found["points"][3]["valid"] = False
    after = named(figures.of_cases(found["points"], []))["picture-short-en-output-tps"].curves[0]
    assert after.values == before.values[:3]


def test_one_number_of_users_is_no_line() -> None:
    assert not any("reasoning" in name for name in named(figures.of_cases(example()["points"], [])) if "tps" in name)


@pytest.mark.parametrize("make", [all_failed, nothing_measured])
def test_nothing_known_is_nothing_drawn(make: Any) -> None:
    assert figures.of_cases(make()["points"], []) == []


def test_without_intervals_there_are_lines_without_bands() -> None:
    (curve, _other) = named(figures.of_cases(nothing_known()["points"], []))["picture-short-en-ttft-ms"].curves
    assert {value[2:] for value in curve.values} == {(None, None)}


def test_ttft_of_the_highest_number_of_users_that_all_targets_had() -> None:
    found = example()
    eight = {one["target"]: one["id"] for one in found["points"] if one["id"].endswith("/n8")}
    times = {eight["main-0"]: [30.0, 10.0, None], eight["gateway"]: [20.0, 40.0]}
    figure = named(figures.of_cases(found["points"], rounds_with(times)))["picture-short-en-ttft-shares"]
    assert figure.samples == (("main-0", 0, (10.0, 30.0)), ("gateway", 1, (20.0, 40.0)))
    assert figure.title == "TTFT with 8 users"


def tagged(found: dict[str, Any], tag: str, users: tuple[int, ...], target: str = "main-0") -> list[dict[str, Any]]:
    """Points of a part with a tag, each with twice the figures of the first point."""
    first = found["points"][0]
    stats = {**first["stats"]["output_tps"], "median": 2 * first["stats"]["output_tps"]["median"]}
    return [
        {
            **first,
            "id": f"short-en/chat/direct:{target}/n{number}/{tag}",
            "load": {**first["load"], "n": number},
            "stats": {**first["stats"], "output_tps": stats},
        }
        for number in users
    ]


@pytest.mark.parametrize("tag", ["ladder", "hosts"])
def test_steps_of_a_ladder_and_other_parts_are_no_points_of_the_line(tag: str) -> None:
    found = example()
    before = named(figures.of_cases(found["points"], []))["picture-short-en-output-tps"].curves[0]
    found["points"] += tagged(found, tag, (1, 2, 4, 8, 16))
    after = named(figures.of_cases(found["points"], []))
    assert after["picture-short-en-output-tps"].curves[0] == before
    groups = after["picture-short-en-rounds"].groups
    assert {"8", f"8 ({tag})"} <= set(groups)


def test_a_ladder_alone_is_a_line() -> None:
    found = example()
    found["points"] = tagged(found, "ladder", (1, 2, 4))
    (curve,) = named(figures.of_cases(found["points"], []))["picture-short-en-output-tps"].curves
    assert [value[0] for value in curve.values] == [1, 2, 4]


def test_ttft_of_a_soak_is_drawn_and_that_of_a_ladders_step_is_not_mixed_in() -> None:
    found = example()
    soak = tagged(found, "soak", (8,))
    times = {soak[0]["id"]: [30.0, 10.0]}
    figure = named(figures.of_cases(soak, rounds_with(times)))["picture-short-en-ttft-shares"]
    assert figure.samples == (("main-0", 0, (10.0, 30.0)),)
    plain = tagged(found, "x", (8,))
    plain[0]["id"] = plain[0]["id"].removesuffix("/x")
    times = {plain[0]["id"]: [1.0, 2.0], plain[0]["id"] + "/ladder": [100.0, 200.0]}
    both = [*plain, *tagged(found, "ladder", (8,))]
    figure = named(figures.of_cases(both, rounds_with(times)))["picture-short-en-ttft-shares"]
    assert figure.samples == (("main-0", 0, (1.0, 2.0)),)


def test_the_forest_has_every_ratio_that_is_known() -> None:
    (forest,) = figures_forest.of_comparison(example()["comparison"])
    known = [row for row in example()["comparison"]["rows"] if row["ratio"] is not None]
    assert [(row.verdict, list(row.ends or ())) for row in forest.rows] == [
        (row["verdict"], row["ci95"]) for row in known
    ]
    assert {row.verdict for row in forest.rows} == {"no change", "regression", "inconclusive", "improvement"}
    first = next(row for row in forest.rows if row.label.endswith(", N = 8: ttft_ms"))
    assert first.margin == pytest.approx((1 / 1.1, 1.1), abs=1e-6)
    assert len({row.label for row in forest.rows}) == len(forest.rows)
    assert figures_forest.of_comparison(None) == []
    assert figures_forest.of_pairs([], {}) == []


def test_the_margin_of_a_row_is_the_one_that_it_was_judged_by() -> None:
    row = {"metric": "ttft_ms", "margin": [0.75, 1.25]}
    assert figures_forest.margin_of(row, {"ttft_ms": 0.1}) == (0.75, 1.25)
    earlier = {"metric": "ttft_ms"}
    assert figures_forest.margin_of(earlier, {"ttft_ms": 0.1}) == pytest.approx((1 / 1.1, 1.1))
    assert figures_forest.margin_of(earlier, {}) is None


def test_a_forest_stays_readable() -> None:
    found = example()["comparison"]
    found["rows"] = [found["rows"][0]] * 50
    (forest,) = figures_forest.of_comparison(found)
    assert len(forest.rows) == figures_forest.MOST_ROWS
    assert "The first 36 of 50" in forest.caption


def test_a_hosts_panels() -> None:
    found = named(figures_hosts.of_hosts(example(), []))
    labels = [panel.label.replace("\n", " ") for panel in found["picture-host-spark1"].panels]
    assert labels == ["memory available (GiB)", "GPU (%)", "power (W)", "RDMA (Gb/s)"]
    # Its power is not known.
    assert len(found["picture-host-spark2"].panels) == 3


def test_in_flight_counts_what_was_written_and_has_not_ended() -> None:
    requests = [{"t_write": 0.0, "t_end": 2.0}, {"t_write": 1.0, "t_end": 3.0}, {"t_write": None, "t_end": 3.0}]
    count = figures_hosts.in_flight([{"began": 100.0, "requests": requests}])
    assert count is not None
    assert [count({"t": 100.0 + time}) for time in (-1.0, 0.5, 1.5, 2.5, 3.5)] == [0.0, 1.0, 2.0, 1.0, 0.0]
    assert figures_hosts.in_flight([]) is None


def test_a_long_run_is_thinned_to_means() -> None:
    thin = figures_hosts.thinned([(float(time), float(time % 2)) for time in range(4000)])
    assert len(thin) == figures_hosts.MOST_TIMES
    assert {value for _time, value in thin} == {0.5}
    assert figures_hosts.thinned([(1.0, 2.0)]) == ((1.0, 2.0),)


def test_host_table() -> None:
    busy, idle = host_table.rows(example()["snapshots"])
    cells = dict(zip(host_table.HEAD, busy, strict=True))
    assert cells["RDMA (Gb/s)"].text == "33.60"
    assert float(cells["GPU median (%)"].text) > 88
    assert dict(zip(host_table.HEAD, idle, strict=True))["power (W)"].text == "n/a"


@pytest.mark.parametrize(
    ("held", "text"),
    [
        (
            [["sw_power_cap"], ["sw_power_cap", "sw_thermal_slowdown"], ["hw_thermal_slowdown"], []],
            "power cap 50.0 %, thermal 50.0 %",
        ),
        ([["hw_slowdown"], [], ["gpu_idle"], None], "hardware 33.3 %"),
        ([["gpu_idle"], ["applications_clocks_setting"]], "no"),
        ([None, None], "n/a"),
    ],
)
def test_why_clocks_were_held_down_is_one_cell(held: list[Any], text: str) -> None:
    during = [{"t": float(second), "gpu": {"throttle": one}} for second, one in enumerate(held)]
    (row,) = host_table.rows({"spark1": {"during": during}})
    assert dict(zip(host_table.HEAD, row, strict=True))["clock held down"].text == text


def test_a_host_that_says_nothing_has_no_figures() -> None:
    (row,) = host_table.rows({"spark1": {"during": [{"t": 1.0}, {"t": 2.0, "gpu": None, "net": None}]}})
    assert [cell.text for cell in row[2:]] == ["n/a"] * 12
    (row,) = host_table.rows({"spark1": {"during": []}})
    assert row[1].text == "0"
    assert len(row) == len(host_table.HEAD)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0, "0"),
        (7, "7"),
        (12345, "12,345"),
        (12345.6, "12,346"),
        (999.6, "1,000"),
        (99.96, "100"),
        (9.994, "9.99"),
        (1.0, "1.00"),
        (0.5, "0.500"),
        (-2.345, "-2.35"),
        (1e-9, "0.000000"),
        ("as it is", "as it is"),
    ],
)
def test_a_figure_has_three_digits(value: Any, text: str) -> None:
    assert numbers.figure(value) == text


def test_other_figures() -> None:
    assert numbers.share(None) == "n/a"
    assert numbers.gib(2 * GIB) == "2.00"
    assert numbers.interval([1.0, 20.0]) == "1.00\u201320.0"
    assert numbers.interval(None) == numbers.interval([None, 1.0]) == ""
