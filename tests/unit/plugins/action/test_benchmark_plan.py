# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The edge that orders a benchmark: variables of the run, files on the controller, and the folder of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.action import benchmark_plan
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.suites.ordered import (
    HOSTS,
    links,
    plan,
)

RESULT = Path(__file__).resolve().parents[3] / "fixtures" / "bench" / "report" / "result.json"
OWN_CASE = """
name: mine-en
language: en
description: d
prompt_tokens: null
output: {mode: fixed, tokens: 8}
cache: cold
prompts: ["Why?"]
"""
OWN_SUITE = """
name: tiny
description: d
rounds: 1
parts:
  - {cases: [short], targets: entry}
"""


@pytest.fixture(autouse=True)
def _run_where_the_user_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(benchmark_plan, "load_extra_vars", lambda _loader: {"suite": "quick"})


def run(check_mode: bool = False, of: dict[str, Any] | None = None, **variables: Any) -> dict[str, Any]:
    """The plugin with these variables of the run."""
    made = benchmark_plan.ActionModule(
        MagicMock(args={"plan": of or plan()}, check_mode=check_mode, async_val=0),
        *(MagicMock() for _number in range(5)),
    )
    made._loader.load = lambda text, file_name: yaml.safe_load(text)
    made._templar.template = lambda value: value
    hostvars = {host: {"fabric_links": links()[host]} for host in HOSTS}
    return made.run(task_vars={**variables, "hostvars": hostvars, "groups": {"all": list(HOSTS)}})


def test_an_order_is_made_and_kept_in_a_new_folder() -> None:
    made = run(benchmark_label="a")
    folder = Path(made["folder"])
    assert folder.parent == Path.cwd() / "results"
    assert folder.name == made["order"]["run"]["id"]
    assert folder.name.endswith("-quick-a")
    assert json.loads((folder / "order.json").read_text(encoding="utf-8")) == made["order"]
    assert (made["client"], made["resumed"], made["changed"], made["key_file"]) == ("spark1", False, True, "")
    assert len(made["order"]["run"]["nonce"]) == 16


def test_two_runs_of_one_second_have_two_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark_plan.time, "time", lambda: 1796033700.0)
    made = [run(), run()]
    assert [Path(one["folder"]).name for one in made] == [
        "20261130T101500Z-quick-main",
        "20261130T101500Z-quick-main-2",
    ]
    assert made[1]["order"]["run"]["id"] == "20261130T101500Z-quick-main-2"
    assert made[0]["order"]["run"]["nonce"] != made[1]["order"]["run"]["nonce"]


def test_check_mode_makes_no_folder() -> None:
    made = run(check_mode=True)
    assert made["order"]["rounds"]
    assert not Path(made["folder"]).exists()


def test_the_short_names_count_more() -> None:
    made = run(suite="soak", benchmark_suite="quick", baseline=str(RESULT), benchmark_baseline="")
    assert made["order"]["run"]["suite"] == "soak"
    assert made["baseline"] == str(RESULT)


def test_cases_and_suites_of_the_users_own() -> None:
    Path("mine.yml").write_text(OWN_CASE, encoding="utf-8")
    Path("tiny.yml").write_text(OWN_SUITE, encoding="utf-8")
    made = run(benchmark_suite="tiny.yml", benchmark_case_files="mine.yml")
    assert [case["name"] for case in made["order"]["cases"]] == ["short-en", "mine-en"]
    assert made["order"]["run"]["suite"] == "tiny"


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"benchmark_suite": "standrad"}, "suite: found 'standrad', wanted gateway, layout,"),
        ({"benchmark_suite": "no/such.yml"}, "suite: found 'no/such.yml'"),
        ({"benchmark_suite": "bad.yml"}, "bad.yml.parts: found nothing"),
        ({"benchmark_case_files": ["gone.yml"]}, "benchmark_case_files[0]: found 'gone.yml', which is no file"),
        ({"benchmark_case_files": ["bad.yml"]}, "bad.yml.part: found an unknown key"),
        ({"benchmark_case_files": ["short.yml"]}, "short.yml.name: found 'short-en', wanted a name that no other"),
        ({"benchmark_case_files": ["latin.yml"]}, "latin.yml: found what cannot be read"),
        ({"benchmark_baseline": "gone.json"}, "baseline: found 'gone.json', which is not there"),
        ({"benchmark_baseline": "short.yml"}, "short.yml: found no JSON (Expecting value"),
        ({"benchmark_baseline": "other.json"}, "other.json: schema: found spark_bench/9, wanted spark_bench/1"),
        ({"benchmark_allow_differences": "context"}, "benchmark_allow_differences[0]: found 'context', wanted all, or"),
        ({"benchmark_margins": {"tpot_ms": 5}}, "benchmark_margins.tpot_ms: found 5, wanted a share above 0"),
        ({"benchmark_api_key_file": "gone.key"}, "benchmark_api_key_file: found 'gone.key'"),
        ({"benchmark_ca_file": "gone.pem"}, "benchmark_ca_file: found 'gone.pem'"),
        ({"benchmark_resume": "results/gone"}, "benchmark_resume: found results/gone, whose order.json or blocks.json"),
        ({"benchmark_client": "spark9"}, "benchmark_client: found 'spark9'"),
        ({"benchmark_rounds": "many"}, "benchmark_rounds: found 'many'"),
    ],
)
def test_each_fault_is_named(variables: dict[str, Any], words: str) -> None:
    Path("bad.yml").write_text("name: x\ndescription: d\npart: 1\n", encoding="utf-8")
    Path("short.yml").write_text(OWN_CASE.replace("mine-en", "short-en"), encoding="utf-8")
    Path("latin.yml").write_bytes(b"name: \xff")
    Path("other.json").write_text('{"schema": "spark_bench/9"}', encoding="utf-8")
    made = run(**variables)
    assert made["failed"]
    assert words in made["msg"]
    assert not Path("results").exists()


def test_all_faults_at_once() -> None:
    made = run(benchmark_suite="nope", benchmark_client="spark9", benchmark_rounds=0, benchmark_baseline="gone")
    assert made["msg"].splitlines()[0] == "The configuration has 4 errors; nothing was changed."


def test_an_interrupted_run_goes_on() -> None:
    first = run()
    again = run(benchmark_resume=first["folder"])
    assert again["resumed"]
    assert not again["changed"]
    assert (again["order"], again["folder"]) == (first["order"], first["folder"])
    other = run(benchmark_resume=first["folder"], benchmark_rounds=7)
    assert other["failed"]
    assert "rounds then" in other["msg"]


def test_a_run_that_deploys_goes_on_with_its_own_layouts() -> None:
    first = run(benchmark_suite="layout")
    assert run(benchmark_suite="layout", benchmark_resume=first["folder"])["blocks"] == first["blocks"]
    other = run(benchmark_suite="layout", benchmark_resume=first["folder"], benchmark_layouts="mp,ray")
    assert "whose run deploys tp1, tp2 then, mp, ray now" in other["msg"]


def test_a_key_is_laid_on_the_client_host_and_never_shown() -> None:
    Path("api.key").write_text("very-secret-key-of-ann", encoding="utf-8")
    asked = plan(gateway_keys=[{"name": "ann", "key": "0" * 24}])
    made = run(of=asked, benchmark_api_key_file="api.key")
    (gateway, *_direct) = made["order"]["targets"]
    assert made["key_file"] == f"/run/dgxspark-benchmark-{made['order']['run']['id']}.key"
    assert gateway["key_file"] == made["key_file"]
    # From where the user is: the role would look beside itself.
    assert (made["key_source"], made["ca_source"]) == (str(Path.cwd() / "api.key"), "")
    assert "very-secret" not in json.dumps(made, default=str)
    kept = json.loads((Path(made["folder"]) / "order.json").read_text(encoding="utf-8"))
    assert kept["targets"][0]["key_file"] == "@api"


def test_the_controller_reads_its_own_files_where_they_are() -> None:
    Path("api.key").write_text("very-secret-key-of-ann", encoding="utf-8")
    asked = plan(gateway_keys=[{"name": "ann", "key": "0" * 24}])
    made = run(of=asked, benchmark_api_key_file="api.key", benchmark_client="localhost", benchmark_targets="gateway")
    assert (made["key_file"], made["key_source"]) == ("", "")
    assert made["order"]["targets"][0]["key_file"] == str(Path.cwd() / "api.key")
    assert made["notes"][0].startswith("The engine of main-0 listens on the loopback of spark1")
