# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines, and what the scripts do in a container that is made up of a folder."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import ask, program

POINT = {"point": "short-en/chat/direct:main-0/n4", "n": 4, "requests": 16, "output_tokens": 128, "prompt_tokens": 141}
KEY = "sk-0123456789abcdef"


def wanted(folder: str = "/models/m", revision: str = "", points: int = 1) -> dict[str, Any]:
    return {
        "host": "spark1",
        "container": "dgxspark-main-0-rank0",
        "image": "vllm/vllm-openai:v0.33.0",
        "url": "http://127.0.0.1:8000",
        "served_model_name": "qwen",
        "folder": folder,
        "revision": revision,
        "points": [{**POINT, "seed": number} for number in range(points)],
        "notes": [],
    }


def executable(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


BEGINS = """\
import json, os, sys
if sys.argv[1:] == ["--version"]:
    sys.exit(print("vllm-rs 0.33.0"))
folder = sys.argv[sys.argv.index("--result-dir") + 1]
"""


class Container:
    """A `docker` whose only container is this machine, and a vllm-rs that writes down what it was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.folder, self.bin, self.tmp = folder, folder / "bin", folder / "tmp"
        self.bin.mkdir()
        self.tmp.mkdir()
        self.told: list[str] = []
        shell = '#!/bin/sh\necho "$@" >> {}\nshift 2\nexec "$@"\n'
        self.docker = str(executable(folder / "docker", shell.format(folder / "argv")))
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        monkeypatch.setenv("TMPDIR", str(self.tmp))

    def has(self, ends: str) -> None:
        """Put the program into it; ``ends`` is what it does when asked."""
        executable(self.bin / "vllm-rs", f"#!{sys.executable}\n{BEGINS}{ends}\n")

    def ask(self, found: dict[str, Any]) -> dict[str, Any]:
        return ask.ask(found, self.docker, lambda _done, _total, text: self.told.append(text))

    @property
    def argv(self) -> str:
        return (self.folder / "argv").read_text(encoding="utf-8")


@pytest.fixture
def container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Container:
    return Container(monkeypatch, tmp_path)


WRITES = """
seen = {"argv": sys.argv, "key": os.environ.get("OPENAI_API_KEY"), "proxy": os.environ.get("http_proxy")}
with open(os.path.join(folder, "result.json"), "w") as stream:
    json.dump({**seen, "generated_texts": ["long"]}, stream)
print("words that are no result")
"""


def test_the_same_is_asked_as_was_measured() -> None:
    found = program.Program("/opt/vllm-rs", "0.33.0", "/models/m")
    assert program.run("/usr/bin/docker", wanted(), {**POINT, "seed": 7}, found) == [
        "/usr/bin/docker", "exec", "dgxspark-main-0-rank0", "sh", "-c", program.RUN, "sh", "/opt/vllm-rs",
        "bench", "serve",
        "--backend=openai-chat", "--base-url=http://127.0.0.1:8000", "--endpoint=/v1/chat/completions",
        "--model=qwen", "--tokenizer=/models/m", "--dataset-name=random",
        "--random-input-len=141", "--random-output-len=128", "--seed=7", "--ignore-eos", "--temperature=0",
        "--num-prompts=16", "--max-concurrency=4", "--num-warmups=4",
        "--percentile-metrics=ttft,tpot,itl,e2el", "--disable-tqdm", "--save-result", "--save-detailed",
    ]  # fmt: skip


@pytest.mark.parametrize("output", ["", "\n", "/usr/bin/vllm-rs\n"])
def test_no_program_is_none(output: str) -> None:
    assert program.found(output) is None


def test_each_point_is_asked_and_nothing_is_left(container: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    container.has(WRITES)
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:3128")
    found = container.ask(wanted(points=2))
    assert (found["version"], found["program"], found["notes"]) == ("0.33.0", str(container.bin / "vllm-rs"), [])
    documents = [one["document"] for one in found["asked"]]
    assert [[one for one in each["argv"] if one.startswith("--seed")] for each in documents] == [
        ["--seed=0"],
        ["--seed=1"],
    ]
    assert all(each["proxy"] is None and each["key"] is None and "generated_texts" not in each for each in documents)
    assert list(container.tmp.iterdir()) == []
    assert container.told == [
        "looking for vllm-rs",
        "point 1 of 2, short-en/chat/direct:main-0/n4: 16 requests",
        "point 2 of 2, short-en/chat/direct:main-0/n4: 16 requests",
    ]


def test_the_key_is_that_of_the_engine_and_in_no_command_line(
    container: Container, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    container.has(WRITES)
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    [one] = container.ask(wanted())["asked"]
    assert one["document"]["key"] == KEY
    assert KEY not in container.argv
    file = tmp_path / "engine.key"
    file.write_text(f"{KEY}-of-the-file\n", encoding="utf-8")
    monkeypatch.setattr(program, "RUN", program.RUN.replace(program.KEY_MOUNT, str(file)))
    [one] = container.ask(wanted())["asked"]
    assert one["document"]["key"] == f"{KEY}-of-the-file"
    assert KEY not in container.argv


def test_it_is_found_in_the_package_too(container: Container, tmp_path: Path) -> None:
    package = tmp_path / "site" / "vllm"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('it is not to be run')\n", encoding="utf-8")
    container.has(WRITES)
    (container.bin / "vllm-rs").rename(package / "vllm-rs")
    executable(container.bin / "python3", f'#!/bin/sh\nPYTHONPATH={tmp_path}/site exec {sys.executable} "$@"\n')
    assert container.ask(wanted())["program"] == str(package / "vllm-rs")


def test_the_tokenizer_in_a_cache_of_the_hub(container: Container, tmp_path: Path) -> None:
    container.has(WRITES)
    repository = tmp_path / "models--org--m"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("0123abcd", encoding="utf-8")
    for revision, snapshot in (("main", "0123abcd"), ("ffff0000", "ffff0000")):
        [one] = container.ask(wanted(str(repository), revision))["asked"]
        assert f"--tokenizer={repository}/snapshots/{snapshot}" in one["document"]["argv"]


def test_an_image_without_it_is_named(container: Container) -> None:
    note = (
        "vllm-rs was not asked: found none in the image vllm/vllm-openai:v0.33.0 on spark1, wanted an image with the "
        "program vllm-rs on its PATH or in its package vllm, as vLLM 0.33 has it. Serve from such an image, or set "
        "benchmark_second_source: none."
    )
    assert container.ask(wanted()) == {"program": "", "version": "", "asked": [], "notes": [note]}


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ('print("the server refused", file=sys.stderr); sys.exit(3)', "exit code 3 (the server refused)"),
        ('open(os.path.join(folder, "result.json"), "w").write("[")', "exit code 0 (it says nothing)"),
    ],
)
def test_one_that_gives_no_result_is_a_note(container: Container, ends: str, words: str) -> None:
    container.has(ends)
    found = container.ask(wanted())
    assert found["asked"] == []
    [note] = found["notes"]
    assert note == (
        f"vllm-rs gave no result for short-en/chat/direct:main-0/n4 on spark1: {words}. "
        "Try it there: docker exec dgxspark-main-0-rank0 vllm-rs bench serve --help."
    )
    assert list(container.tmp.iterdir()) == []


@pytest.mark.parametrize(("good", "seeds"), [(2, 3), (9, ask.TRIES)])
def test_it_is_given_other_prompts_when_it_finds_none_of_the_length(
    container: Container, tmp_path: Path, good: int, seeds: int
) -> None:
    fails = f"""
seed = next(one for one in sys.argv if one.startswith("--seed="))
open({str(tmp_path / "seeds")!r}, "a").write(seed + " ")
if seed != "--seed={good}":
    sys.exit("Tokenizer error: Prompt 0: server verification failed to converge after 20 iterations")
"""
    container.has(fails + WRITES)
    found = container.ask(wanted())
    assert (tmp_path / "seeds").read_text(encoding="utf-8").split() == [f"--seed={seed}" for seed in range(seeds)]
    assert (len(found["asked"]), len(found["notes"])) == ((1, 0) if good < ask.TRIES else (0, 1))


def test_a_docker_that_refuses_is_a_note(tmp_path: Path) -> None:
    docker = executable(tmp_path / "docker", "#!/bin/sh\necho 'No such container: x' >&2\nexit 1\n")
    [note] = ask.ask(wanted(), str(docker), lambda *_told: None)["notes"]
    assert "the question where it is on spark1: exit code 1 (No such container: x)" in note
    [note] = ask.ask(wanted(), str(tmp_path / "none"), lambda *_told: None)["notes"]
    assert "exit code 127" in note


def test_one_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    docker = executable(tmp_path / "docker", "#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(ask, "FIND_S", 0.2)
    [note] = ask.ask(wanted(), str(docker), lambda *_told: None)["notes"]
    assert "exit code 124 (no end within 0 s)" in note
