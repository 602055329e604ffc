# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's report from end to end: its schema, its pictures and its module, with what the venv has."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import jsonschema
import pytest

from ansible_collections.dgxspark.serving.plugins.action import benchmark_report
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import assemble, check, html, schema
from ansible_collections.dgxspark.serving.plugins.plugin_utils import bench_pictures, bench_report
from tools import bench_example, bench_golden

CHECKOUT = Path(__file__).resolve().parents[2]
FILES = {"result.json", "report.md", "report.csv", "report.html", "junit.xml", "requests.jsonl.gz"}


@pytest.fixture(scope="module")
def found() -> assemble.Found:
    return bench_golden.found()


@pytest.fixture
def result(found: assemble.Found) -> dict[str, Any]:
    return assemble.result(found, bench_golden.VERSION)


def test_the_golden_files_are_of_the_example(result: dict[str, Any]) -> None:
    folder = CHECKOUT / bench_golden.FOLDER
    assert json.loads((folder / "result.json").read_text("utf-8")) == result, "run: python -m tools.bench_golden"


def test_the_published_schema_is_the_one_that_is_checked() -> None:
    published = json.loads((CHECKOUT / bench_golden.SCHEMA).read_text("utf-8"))
    assert published == schema.schema(), "run: python -m tools.bench_golden"
    jsonschema.Draft202012Validator.check_schema(published)


def test_the_example_keeps_the_schema(result: dict[str, Any]) -> None:
    jsonschema.validate(result, schema.schema())
    assert check.faults(result, "r") == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("points", 0, "stats", "ttft_ms", "median"), "fast"),
        (("points", 0, "errors"), {"broken": 1}),
        (("points", 0, "valid"), 1),
        (("points", 0, "summary", "output_tps"), {}),
        (("pairs", 0, "ci95"), ["a", "b"]),
        (("comparison", "exit_code"), True),
        (("comparison", "exit_code"), 2),
        (("decision", "rows", 0, "better"), "both"),
        (("run",), None),
        (("snapshots", "spark1", "during"), {}),
    ],
)
def test_our_own_check_agrees_with_the_whole_of_json_schema(
    result: dict[str, Any], path: tuple[Any, ...], value: Any
) -> None:
    broken = json.loads(json.dumps(result))
    held = broken
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema.schema())
    assert check.faults(broken, "r")


class Drawn(HTMLParser):
    """Ids, what refers to them, and what is loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.uses: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "xlink:href", "src"):
                self.uses.append(value or "")
            self.uses += [f"#{one}" for one in re.findall(r"url\(#([^)]+)\)", value or "")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


@pytest.fixture(scope="module")
def page(found: assemble.Found) -> str:
    whole = assemble.result(found, bench_golden.VERSION)
    return html.page(whole, bench_pictures.draw(bench_report.to_draw(whole, found.rounds)))


def test_the_page_with_pictures_is_whole_and_loads_nothing(page: str) -> None:
    drawn = Drawn(page)
    assert page.count("<svg") == 12
    assert len(drawn.ids) == len(set(drawn.ids))
    assert drawn.uses
    assert all(use.startswith("#") and use[1:] in drawn.ids for use in drawn.uses)
    assert "no-pictures" not in drawn.ids


def test_pictures_take_their_colours_and_letters_from_the_page(page: str) -> None:
    svgs = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    for svg in svgs:
        assert not re.search(r"#[0-9a-f]{6}\b", svg)
        assert "var(--ink)" in svg
        assert set(re.findall(r"font-family: ([^;\"]+)", svg)) == {"sans-serif"}
    assert any("var(--series-2)" in svg for svg in svgs)


def test_letters_in_pictures_are_text(page: str) -> None:
    texts = Drawn(page).texts
    for wanted in ("users at once (N)", "TTFT (ms)", "GPU (%)", "now / before"):
        assert wanted in texts


def test_pictures_are_the_same_each_time(found: assemble.Found, page: str) -> None:
    whole = assemble.result(found, bench_golden.VERSION)
    again = html.page(whole, bench_pictures.draw(bench_report.to_draw(whole, found.rounds)))
    assert again == page
    assert not re.search(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+", page)


def test_a_target_named_like_markup_stays_text(found: assemble.Found) -> None:
    whole = assemble.result(found, "1")
    for one in whole["points"]:
        one["target"] = "--><script>x</script>$a_b$"
    drawn = bench_pictures.draw(bench_report.to_draw(whole, found.rounds))
    assert all("<script" not in picture.svg for picture in drawn)
    assert any("$a_b$" in picture.svg for picture in drawn)


def test_without_matplotlib_the_report_says_so(
    found: assemble.Found, result: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(bench_pictures, "mpl")
    made = bench_report.files(result, found.rounds, bench_report.FORMATS, True)
    assert set(made) == FILES
    assert html.NO_PICTURES in made["report.html"].decode()
    assert b"<svg" not in made["report.html"]


@pytest.mark.parametrize(
    ("pictures", "kept", "said"),
    [
        (False, slice(None), bench_report.NOT_WANTED),
        (True, slice(None), ""),
        # Its only point is not valid: there is nothing to draw.
        (True, slice(-1, None), ""),
        (False, slice(0), ""),
    ],
)
def test_why_there_are_no_pictures(result: dict[str, Any], pictures: bool, kept: slice, said: str) -> None:
    result.update(points=result["points"][kept], pairs=[], comparison=None, snapshots={})
    made = bench_report.files(result, (), ("html",), pictures)["report.html"].decode()
    assert ("no-pictures" in made) == bool(said)
    assert said in made
    assert ("<svg" in made) == (pictures and kept == slice(None))


def put(folder: Path, rounds: Any) -> None:
    (folder / "rounds").mkdir()
    for one in rounds:
        (folder / "rounds" / f"{one['id']}.json.gz").write_bytes(gzip.compress(json.dumps(one).encode()))


def run(
    found: assemble.Found,
    folder: Path,
    clock: Mapping[str, float] | None = None,
    watched: tuple[float, float] = (0.0, float("inf")),
    **arguments: Any,
) -> dict[str, Any]:
    """The module for two hosts, whose clocks may be off, and a third that could not be reached."""
    seen = bench_example.Example().snapshots()
    for host in seen.values():
        host["samples"] = [sample for sample in host["samples"] if watched[0] <= sample["t"] < watched[1]]
    for sample in (sample for host in seen.values() for sample in host["samples"]):
        sample["t"] += clock["offset_s"] if clock else 0.0
    hostvars = {
        host: {"samples": {"snapshots": seen[host], "env": bench_example.ENVS[host], "clock": clock}}
        for host in ("spark1", "spark2")
    }
    merged = {"deployments": list(found.deployments)}
    given = {
        "order": dict(found.order),
        "results": str(folder),
        "samples_variable": "samples",
        "merged": merged,
        "pictures": False,
    }
    task = MagicMock(args={**given, **arguments}, check_mode=False, async_val=0)
    plugin = benchmark_report.ActionModule(task, *[MagicMock() for _part in range(5)])
    known = {**hostvars, "spark3": {"samples": {"failed": True}}}
    answer: dict[str, Any] = plugin.run(task_vars={"hostvars": known, "ansible_play_hosts_all": list(known)})
    return answer


def test_the_module_writes_the_report(found: assemble.Found, tmp_path: Path) -> None:
    put(tmp_path, found.rounds)
    answer = run(found, tmp_path, pictures=True)
    assert not answer.get("failed")
    assert {Path(path).name for path in answer["paths"]} == FILES
    assert {path.name for path in tmp_path.iterdir()} == FILES | {"rounds"}
    document = json.loads((tmp_path / "result.json").read_text("utf-8"))
    jsonschema.validate(document, schema.schema())
    assert [point["id"] for point in document["points"]] == [point["id"] for point in found.points]
    assert set(document["hosts"]) == {"spark1", "spark2"}
    assert document["run"]["interrupted"] is True
    lines = gzip.decompress((tmp_path / "requests.jsonl.gz").read_bytes()).decode().splitlines()
    assert len(lines) == sum(len(one["requests"]) for one in found.rounds)
    assert (answer["failure"], answer["exit_code"]) == ("", 0)


def test_samples_of_a_host_with_another_time_are_those_of_its_rounds_also_when_the_report_is_made_again(
    found: assemble.Found, tmp_path: Path
) -> None:
    def during(folder: Path, **arguments: Any) -> list[float]:
        assert not run(found, folder, **arguments).get("failed")
        document = json.loads((folder / "result.json").read_text("utf-8"))
        skewed = [one["text"] for one in document["findings"] if one["code"] == "clock_skew"]
        assert len(skewed) == 2 * ("clock" in arguments)
        assert all("a clock 90.0 s ahead of that of the client localhost," in text for text in skewed)
        return [sample["t"] for sample in document["snapshots"]["spark1"]["during"]]

    right, wrong = tmp_path / "right", tmp_path / "wrong"
    for folder in (right, wrong):
        folder.mkdir()
        put(folder, found.rounds)
    expected = during(right, client="localhost")
    assert expected
    ahead = {"client": "localhost", "clock": {"offset_s": 90.0, "error_s": 0.1}}
    assert during(wrong, **ahead) == expected
    assert during(wrong, **ahead) == expected


@pytest.mark.parametrize("blocks", [False, True], ids=["one-run", "blocks"])
def test_the_self_test_of_the_run_is_in_its_result_and_warns(
    found: assemble.Found, tmp_path: Path, blocks: bool
) -> None:
    put(tmp_path, found.rounds)
    off = {**bench_example.SELF_TEST, "itl_p99_err_pct": 7.5}
    more: dict[str, Any] = {}
    if blocks:
        more = {"merged": {"deployments": list(found.deployments), "self_test": off}}
    else:
        (tmp_path / "rounds" / "self_test.json").write_text(json.dumps(off), "utf-8")
    answer = run(found, tmp_path, **more)
    document = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert document["tool"]["self_test"] == off
    jsonschema.validate(document, schema.schema())
    assert [one["severity"] for one in answer["findings"] if one["code"] == "client_self_test"] == ["warning"]
    assert (answer["failure"], answer["exit_code"]) == ("", 0)


def test_no_file_of_a_report_holds_a_secret(found: assemble.Found, tmp_path: Path) -> None:
    put(tmp_path, found.rounds)
    run(found, tmp_path)
    for path in tmp_path.glob("*.*"):
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        assert "do-not-show-me" not in text
        assert ".key" not in text, path


def test_a_run_beside_itself_has_not_changed(found: assemble.Found, tmp_path: Path) -> None:
    put(tmp_path, found.rounds)
    run(found, tmp_path)
    answer = run(found, tmp_path, baseline=str(tmp_path))
    assert answer["comparison"]["rows"]
    assert answer["comparison"]["guard"]["differences"] == []
    assert {row["ratio"] for row in answer["comparison"]["rows"] if row["ratio"] is not None} == {1.0}
    assert answer["exit_code"] in (0, 3)
    assert answer["failure"] == ""
    jsonschema.validate(json.loads((tmp_path / "result.json").read_text("utf-8")), schema.schema())


def test_a_slower_run_is_a_regression(found: assemble.Found, tmp_path: Path) -> None:
    slow, fast = tmp_path / "slow", tmp_path / "fast"
    for folder in (slow, fast):
        folder.mkdir()
        put(folder, found.rounds)
    run(found, fast)
    document = json.loads((fast / "result.json").read_text("utf-8"))
    for point in document["points"]:
        stats = point["stats"]["tpot_ms"]
        stats["rounds"] = [None if value is None else value / 2 for value in stats["rounds"]]
    (fast / "result.json").write_text(json.dumps(document), "utf-8")
    answer = run(found, slow, baseline=str(fast), pictures=True)
    assert answer["exit_code"] == 1
    assert "tpot_ms" in answer["failure"]
    assert "picture-comparison" in (slow / "report.html").read_text("utf-8")
    tolerated = run(found, slow, baseline=str(fast), fail_on="never")
    assert (tolerated["failure"], tolerated["exit_code"]) == ("", 1)
    assert run(found, slow, baseline=str(fast), fail_on="inconclusive")["failure"] == answer["failure"]
    assert run(found, slow, baseline="nowhere", fail_on="never")["failure"]


def test_a_run_that_went_on_keeps_the_samples_of_its_first_part(found: assemble.Found, tmp_path: Path) -> None:
    half = len(found.rounds) // 2
    put(tmp_path, found.rounds[:half])
    ended = found.rounds[half - 1]["began"] + found.rounds[half - 1]["seconds"] + 0.3
    run(found, tmp_path, watched=(0.0, ended))
    first = json.loads((tmp_path / "result.json").read_text("utf-8"))["snapshots"]
    for one in found.rounds[half:]:
        (tmp_path / "rounds" / f"{one['id']}.json.gz").write_bytes(gzip.compress(json.dumps(one).encode()))
    answer = run(found, tmp_path, watched=(ended, float("inf")))
    whole = json.loads((tmp_path / "result.json").read_text("utf-8"))["snapshots"]
    for host in ("spark1", "spark2"):
        times = [sample["t"] for sample in whole[host]["during"]]
        kept = [sample["t"] for sample in first[host]["during"]]
        assert times[: len(kept)] == kept
        assert times[-1] > ended
        assert times == sorted(set(times))
    assert not [one for one in answer["findings"] if one["code"] == "host_partly_seen"]


@pytest.mark.parametrize("keep", ["another run", "no file"])
def test_a_run_whose_first_part_is_gone_says_that_nobody_watched_it(
    found: assemble.Found, tmp_path: Path, keep: str
) -> None:
    put(tmp_path, found.rounds)
    if keep == "another run":
        run(found, tmp_path)
        document = json.loads((tmp_path / "result.json").read_text("utf-8"))
        document["run"]["id"] = "20260101T000000Z-quick"
        (tmp_path / "result.json").write_text(json.dumps(document), "utf-8")
    answer = run(found, tmp_path, watched=(found.rounds[-4]["began"], float("inf")))
    said = [one["text"] for one in answer["findings"] if one["code"] == "host_partly_seen"]
    assert len(said) == 2
    assert "rounds played while nobody watched it" in said[0]


def test_a_run_without_a_valid_point_ends_with_that(found: assemble.Found, tmp_path: Path) -> None:
    late = {"valid": False, "invalid_reasons": ["The client was late."]}
    put(tmp_path, [{**one, **late} for one in found.rounds])
    answer = run(found, tmp_path)
    assert answer["lines"][-1] == (
        "NOT ONE POINT IS VALID: take no figure of this run for the engine's. "
        "The first one: Round 1, 2, 3: The client was late."
    )
    # It measured, and nothing has become worse: a pipeline sees it in junit.xml.
    assert (answer["failure"], answer["exit_code"]) == ("", 0)


def test_how_it_was_asked_stands_in_the_report(found: assemble.Found, tmp_path: Path) -> None:
    put(tmp_path, found.rounds)
    run(found, tmp_path)
    asked = json.loads((tmp_path / "result.json").read_text("utf-8"))["run"]
    assert (asked["client"], asked["limits"]) == ("spark1", found.order["limits"])
    assert (asked["goodput"], asked["client_lag"]) == (found.order["goodput"], None)
    assert ", asked from spark1, " in (tmp_path / "report.md").read_text("utf-8")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "patience with a request: <code>connect_s 10, ttft_s 300, idle_s 120, total_s 1800</code>" in page
    assert "limits for goodput: <code>ttft_ms 200, tpot_ms 30</code>" in page


@pytest.mark.parametrize(("baseline", "words"), [("nowhere.json", "No such file"), ("rounds", "No such file")])
def test_a_baseline_that_is_none_is_said_and_the_report_is_kept(
    found: assemble.Found, tmp_path: Path, baseline: str, words: str
) -> None:
    put(tmp_path, found.rounds)
    answer = run(found, tmp_path, baseline=str(tmp_path / baseline))
    assert words in answer["failure"]
    assert answer["exit_code"] == 1
    document = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert document["comparison"] is None
    assert [one["severity"] for one in document["findings"] if one["code"] == "not_compared"] == ["error"]


def test_b08_all_requests_failed_is_a_report_and_a_failure(found: assemble.Found, tmp_path: Path) -> None:
    rounds = json.loads(json.dumps(found.rounds[:4]))
    for one in rounds:
        for request in one["requests"]:
            request.update(
                error={"kind": "empty_output", "status": 200, "message": "The answer held no token."},
                t_first=None,
                t_last=None,
                **dict.fromkeys(("ttft_ms", "ttfo_ms", "tpot_ms", "e2el_ms"), None),
            )
        one["summary"] = {}
    put(tmp_path, rounds)
    answer = run(found, tmp_path)
    assert (
        "Not one request succeeded (empty_output 9). The first one said: The answer held no token." in answer["failure"]
    )
    assert answer["exit_code"] == 1
    assert "n/a" in (tmp_path / "report.md").read_text("utf-8")


def test_nothing_measured_is_a_report_and_a_failure(found: assemble.Found, tmp_path: Path) -> None:
    answer = run(found, tmp_path, notes=["spark9 was left out."])
    assert answer["failure"] == "Nothing was measured: no round has ended."
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert "spark9 was left out." in (tmp_path / "report.md").read_text("utf-8")


def test_formats_and_check_mode(found: assemble.Found, tmp_path: Path) -> None:
    put(tmp_path, found.rounds[:4])
    run(found, tmp_path, formats=["csv"])
    assert {path.name for path in tmp_path.glob("*.*")} == {"result.json", "report.csv", "requests.jsonl.gz"}


def test_a_damaged_round_fails_and_nothing_is_written(found: assemble.Found, tmp_path: Path) -> None:
    put(tmp_path, found.rounds[:4])
    (tmp_path / "rounds" / "0002.json.gz").write_bytes(b"half")
    answer = run(found, tmp_path)
    assert answer["failed"]
    assert "0002.json.gz" in answer["msg"]
    assert not (tmp_path / "result.json").exists()


def test_a_target_that_no_longer_answered_is_said(found: assemble.Found, tmp_path: Path) -> None:
    why = "gateway answered no request of 3 rounds in a row."
    left_out = {"requests": [], "began": None, "seconds": 0.0, "skipped": why, "skip_kind": "dead"}
    put(tmp_path, [*found.rounds[:16], *({**one, **left_out} for one in found.rounds[16:20])])
    answer = run(found, tmp_path)
    assert answer["failure"] == f"4 rounds not measured. {why}"
    assert answer["exit_code"] == 1
    assert f"not measured with load 1 (4 rounds). {why}" in (tmp_path / "report.md").read_text("utf-8")
    # What was brought together of several runs goes on in another way.
    alone = run(found, tmp_path, merged={})
    assert alone["failure"].endswith(f"go on with the same command and -e benchmark_resume={tmp_path}")
