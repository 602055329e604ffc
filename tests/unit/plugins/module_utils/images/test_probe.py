# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an image says of itself before an engine stops for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images import probe

ARGPARSE = "import argparse\n\nclass FlexibleArgumentParser(argparse.ArgumentParser):\n    pass\n"
CLI_ARGS = """
def make_arg_parser(parser):
    parser.add_argument("model_tag")
    parser.add_argument("--port", type=int)
    parser.add_argument("--tools", action="store_true")
    parser.add_argument("--template")
    return parser

def validate_parsed_serve_args(args):
    if args.template:
        raise ValueError("the chat template is not there")
    if args.tools:
        raise TypeError("Error: --tools requires --tool-call-parser")
"""


def engine(root: Path, cli_args: str) -> Path:
    """A folder with a package ``vllm`` of the given layout."""
    for path, text in ((f"vllm/{cli_args}", CLI_ARGS), ("vllm/utils/argparse_utils.py", ARGPARSE)):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def ask(root: Path, argv: list[str], imports: list[str], name: str = "vllm") -> dict[str, Any] | None:
    """What the program says when it runs as it does in an image."""
    command = [sys.executable, "-c", probe.source(), probe.question(name, imports, argv)]
    environment = {"PYTHONPATH": str(root), "PATH": ""}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    return probe.read_answer("WARNING: noise\n" + done.stdout)


@pytest.mark.parametrize("cli_args", ["entrypoints/launchers/cli_args.py", "entrypoints/openai/cli_args.py"])
@pytest.mark.parametrize(
    ("flags", "refusal"),
    [
        (["--port", "8000"], ""),
        (["--no-such-flag", "3"], "vllm serve: error: unrecognized arguments: --no-such-flag 3"),
        (["--port", "many"], "vllm serve: error: argument --port: invalid int value: 'many'"),
        (["--tools"], "--tools requires --tool-call-parser"),
        (["--template", "a.jinja"], ""),
    ],
)
def test_the_engines_own_parser(tmp_path: Path, cli_args: str, flags: list[str], refusal: str) -> None:
    said = ask(engine(tmp_path, cli_args), ["vllm", "serve", "acme/model", *flags], [])
    assert said is not None
    assert (said["refusal"], said["unknown"], said["missing"]) == (refusal, "", {})
    problems = probe.problems("acme/vllm:1", said)
    start = "image acme/vllm:1 refuses the engine's command line: "
    assert problems == (
        [f"{start}{refusal}. Correct serving_engine_args, or use an image whose engine knows it."] if refusal else []
    )


def test_n16_an_image_without_ray(tmp_path: Path) -> None:
    said = ask(engine(tmp_path, "entrypoints/launchers/cli_args.py"), ["vllm", "serve", "acme/model"], ["ray_of_vllm"])
    assert said is not None
    assert said["missing"] == {"ray_of_vllm": "No module named 'ray_of_vllm'"}
    [problem] = probe.problems("img", {**said, "missing": {"ray": "No module named 'ray'"}})
    assert problem == (
        "found no module ray in image img (No module named 'ray'), wanted one that can be imported. "
        "Use an image that has it, or serving_backend: mp."
    )


@pytest.mark.parametrize(
    ("argv", "name", "unknown"),
    [
        (["vllm", "serve", "acme/model"], "vllm", "ModuleNotFoundError: No module named 'vllm'"),
        (["python3", "-m", "sglang.launch_server"], "sglang", "ModuleNotFoundError: No module named 'sglang'"),
        (["vllm", "serve", "--config", "a.yml"], "vllm", "its options are in a file that is not seen here"),
    ],
)
def test_an_engine_that_cannot_be_asked_proves_nothing(
    tmp_path: Path, argv: list[str], name: str, unknown: str
) -> None:
    said = ask(tmp_path, argv, [], name)
    assert said is not None
    assert said["unknown"] == unknown
    assert probe.problems("img", said) == []


@pytest.mark.parametrize("output", ["", "Traceback", "DGXSPARK-PROBE {"])
def test_an_image_that_says_nothing_proves_nothing(output: str) -> None:
    assert probe.read_answer(output) is None
    assert probe.problems("img", None) == []


def test_the_image_is_asked_without_network_and_mounts() -> None:
    argv = probe.run_argv("docker", "sha256:1", "probe", "{}")
    assert argv[argv.index("--network") + 1] == "none"
    assert not {"--gpus", "--volume", "--mount", "--env"} & set(argv)
    assert argv[argv.index("--entrypoint") + 2] == "sha256:1"


def test_another_image_or_question_is_asked_anew() -> None:
    keys = {probe.key(image, asked) for image in ("i1", "i2") for asked in ("{}", "[]")}
    assert len(keys) == 4


RECORDS = {
    "vllm-0.32.0.dist-info/METADATA": "Name: vllm\nVersion: 0.32.0\n",
    "nvidia_nccl_cu13-2.28.3.dist-info/METADATA": "Name: nvidia-nccl-cu13\nVersion: 2.28.3\n",
    "torch-2.10.0.dist-info/METADATA": "Name: torch\nVersion: 2.10.0\n",
    "torch/version.py": "__version__ = '2.10.0'\ncuda: Optional[str] = '13.0'\n",
}


def test_versions_are_read_and_nothing_is_imported(tmp_path: Path) -> None:
    for path, text in RECORDS.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "torch/__init__.py").write_text("raise SystemExit(1)", encoding="utf-8")
    said = ask(tmp_path, [], [], name="")
    assert said is not None
    found = {name: said["versions"].get(name) for name in ("vllm", "torch", "nccl", "cuda", "python")}
    assert found == {
        "vllm": "0.32.0",
        "torch": "2.10.0",
        "nccl": "2.28.3",
        "cuda": "13.0",
        "python": sys.version.split()[0],
    }
    assert (said["refusal"], said["unknown"]) == ("", "")
