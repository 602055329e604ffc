# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook `benchmark` against two replicas behind a gateway, and over deployments of both sizes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from lab.docker_engine import ensure_engine
from lab.engine_choice import chosen_engines
from lab.lab import Lab
from tests.lab.controller import HOSTS
from tests.lab.measured import SMALL, Measured
from tools.ssh_masters import own_control_folder


@pytest.fixture(scope="module")
def user(docker_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    """Give two replicas of the double behind a gateway."""
    made = Lab(ensure_engine(), f"{os.environ.get('DGXSPARK_TEST_LAB', 'labtest')}-b"[-32:])
    made.down()  # of a session that was killed
    inventory = tmp_path_factory.mktemp("inventory")
    try:
        made.up(len(HOSTS), chosen_engines(["double"]), inventory, gateway=True)
        with own_control_folder() as environment:
            deployed = Measured(made, inventory, environment, tmp_path_factory.mktemp("results"))
            assert deployed.play("deploy-tp1.yml").code == 0
            yield deployed
    finally:
        made.down()


def test_bad_wishes_are_refused_at_once_and_nothing_is_asked(user: Measured) -> None:
    ended = user.measure(suite="standrad", benchmark_concurrency=[0], benchmark_cases=["shrot"])
    assert ended.code != 0
    assert all(text in ended.text for text in ("standrad", "benchmark_concurrency[0]", "shrot"))
    assert user.runs() == []


def test_check_mode_measures_nothing(user: Measured) -> None:
    assert user.measure("--check", suite="quick").code == 0
    assert user.runs() == []


def test_standard_suite(user: Measured) -> None:
    before, key = user.engines(), user.engine_key()
    ended = user.measure(suite="standard", benchmark_pictures=True, benchmark_second_source="vllm_rs")
    assert ended.code == 0, ended.text
    result = user.result()
    assert result["schema"] == "spark_bench/1"
    assert not result["run"]["interrupted"]
    assert {target["name"] for target in result["targets"]} == {"gateway", "tp1-0", "tp1-1"}
    measured = [point for point in result["points"] if not all(one["skipped"] for one in point["rounds"])]
    assert {(point["target"], point["load"]["n"]) for point in measured if point["load"]["model"] == "closed"} >= {
        (target, n) for target in ("gateway", "tp1-0") for n in (1, 4)
    }
    assert {point["load"]["model"] for point in measured} == {"closed", "open"}
    assert all(point["errors"] == {} for point in measured), [point["errors"] for point in measured]
    assert {point["summary"]["completion_tokens"]["mean"] for point in measured} == {16}
    # The double makes 100 tokens a second for each user; how late it is depends on the machine.
    assert all(point["stats"]["tpot_ms"]["median"] > 5 for point in measured)
    # Of 16 requests with 33 tokens; how true their times are depends on the machine.
    tested = result["tool"]["self_test"]
    assert (tested["error"], tested["streams"], tested["tokens"]) == (None, 8, 528)
    assert tested["tpot_err_pct"] is not None
    for host in HOSTS:
        watched = result["snapshots"][host]
        assert watched["before"]["mem"]["available"] > 0
        assert any("dgxspark-tp1" in name for sample in watched["during"] for name in sample["containers"])
        # The lab's hosts have one clock, and their stand-in for a GPU idles.
        assert abs(watched["clock_offset_s"]) < 1
        assert ["gpu_idle"] in [sample["gpu"]["throttle"] for sample in watched["during"]]
        assert all(disks and all(disk["free"] for disk in disks.values()) for disks in watched["disk"].values())
    [deployment] = result["deployments"]
    assert (deployment["engine"], deployment["tensor_parallel_size"], deployment["gateway"]["provider"]) == (
        "vllm", 1, "haproxy",
    )  # fmt: skip
    assert {pair["name"] for pair in result["pairs"]} >= {"gateway / tp1-0"}
    # The double is no vLLM: nothing but a note comes of it.
    [note] = result["second_source"]["notes"]
    assert note.startswith(
        f"vllm-rs was not asked: found none in the image {deployment['image']} on {HOSTS[0]}, wanted"
    )
    assert "vllm-rs was not asked: found none" in (user.last() / "report.md").read_text(encoding="utf-8")
    # One page, one text to paste, and no key in anything that is kept.
    files = {path.name: path.read_bytes() for path in user.last().rglob("*") if path.is_file()}
    assert {"report.html", "report.md", "report.csv", "junit.xml", "requests.jsonl.gz"} <= set(files)
    assert b"<svg" in files["report.html"]
    assert all(key.encode() not in content for content in files.values())
    assert user.left_over() == {host: [] for host in HOSTS}
    assert user.engines() == before


def test_an_interrupted_run_goes_on(user: Measured) -> None:
    folder = user.interrupt(2, suite="quick", benchmark_output_tokens=64)
    kept = {path.name: path.read_bytes() for path in (folder / "rounds").glob("*.json.gz")}
    ended = user.measure(suite="quick", benchmark_output_tokens=64, benchmark_resume=str(folder))
    assert ended.code == 0, ended.text
    assert user.last() == folder
    now = {path.name: path.read_bytes() for path in (folder / "rounds").glob("*.json.gz")}
    assert len(now) > len(kept) >= 2
    assert {name: now[name] for name in kept} == kept
    assert not user.result()["run"]["interrupted"]
    assert user.left_over() == {host: [] for host in HOSTS}


def test_a_slower_engine_is_a_regression_and_fails(user: Measured) -> None:
    more = {"suite": "quick", "benchmark_concurrency": [1], "benchmark_rounds": 4}
    assert user.measure(**more).code == 0
    baseline = user.last() / "result.json"
    user.fault("slow-tokens", tokens_per_second=30)
    try:
        ended = user.measure(baseline=str(baseline), **more)
    finally:
        user.mend()
    assert ended.code != 0
    assert "regression" in ended.text
    comparison = user.result()["comparison"]
    assert (comparison["verdict"], comparison["exit_code"]) == ("regression", 1)
    slower = [row for row in comparison["rows"] if row["metric"] == "tpot_ms"]
    assert slower
    assert all(row["verdict"] == "regression" and row["ratio"] > 2 for row in slower)


def test_an_engine_that_serves_another_name_is_named(user: Measured) -> None:
    before = user.runs()
    user.fault("wrong-name", name="another-model")
    try:
        ended = user.measure(suite="quick")
    finally:
        user.mend()
    assert ended.code != 0
    assert "another-model" in ended.text
    assert all(not list((run / "rounds").glob("*")) for run in user.runs() if run not in before)
    assert user.left_over() == {host: [] for host in HOSTS}


def test_both_sizes_are_deployed_and_measured_and_what_was_there_comes_back(user: Measured) -> None:
    before = sorted(user.containers())
    ended = user.measure(suite="layout", benchmark_rounds=1, benchmark_concurrency=SMALL["benchmark_concurrency"])
    assert ended.code == 0, ended.text
    result = user.result()
    assert {point["deployment"] for point in result["points"]} == {"tp1", "tp2"}
    assert all(point["errors"] == {} for point in result["points"])
    assert result["decision"]["rule"]
    assert {row["aspect"] for row in result["decision"]["rows"]}
    assert sorted(user.containers()) == before
