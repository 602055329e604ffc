# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs import from the double's image: `ray` to see the cluster, `vllm` to check flags."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.engines.double_image import PACKAGE, PACKAGES, SOURCES

Python = Callable[..., tuple[int, str]]

LOOK = """
import json, ray
ray.init(address={address!r})
print(json.dumps(ray.nodes()))
ray.shutdown()
assert not ray.is_initialized()
"""
CHECK = """
import sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser
validate_parsed_serve_args(make_arg_parser(FlexibleArgumentParser(prog="vllm serve")).parse_args(sys.argv[1:]))
print("taken")
"""


@pytest.fixture
def python(tmp_path: Path) -> Python:
    """Return a function that runs a program with the image's packages; it gives the exit code and all output."""
    site = tmp_path / "site"
    site.mkdir()
    (site / PACKAGE).symlink_to(SOURCES)

    def run(program: str, *arguments: str) -> tuple[int, str]:
        environment = {"PYTHONPATH": f"{site}:{PACKAGES}", "PYTHONDONTWRITEBYTECODE": "1", "RAY_TMPDIR": str(site)}
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_ray_shows_the_nodes_of_a_cluster(launch: Any, port: Callable[[], int], python: Python, tmp_path: Path) -> None:
    address = f"127.0.0.1:{port()}"
    flags = ["--node-ip-address", "127.0.0.1", "--port", address.rpartition(":")[2], "--num-gpus", "1", "--block"]
    launch("ray", "start", "--head", *flags, RAY_TMPDIR=str(tmp_path)).wait_log("Ray runtime started")
    code, output = python(LOOK.format(address=address))
    assert code == 0, output
    nodes = json.loads(next(line for line in output.splitlines() if line.startswith("[")))
    assert [(node["NodeManagerAddress"], node["Alive"], node["Resources"]["GPU"]) for node in nodes] == [
        ("127.0.0.1", True, 1.0)
    ]


def test_ray_without_a_cluster(python: Python) -> None:
    code, output = python(LOOK.format(address="auto"))
    assert code == 1
    assert "ConnectionError: Could not find any running Ray instance" in output


def test_the_parser_of_vllm(python: Python) -> None:
    assert python(CHECK, "m", "--max_model_len", "4k", "--enforce-eager") == (0, "taken\n")
    code, output = python(CHECK, "m", "--bogus")
    assert code == 2
    assert output.splitlines()[-1] == "vllm serve: error: unrecognized arguments: --bogus"


def test_versions(python: Python) -> None:
    show = "from importlib.metadata import version; print(version('vllm'), version('ray'))"
    assert python(show) == (0, "0.32.0 2.60.0\n")
    assert python("import vllm, ray; print(vllm.__version__, ray.__version__)") == (0, "0.32.0 2.60.0\n")
