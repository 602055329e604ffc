# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what an engine's image has. Runs inside the image, with its Python, as one file; the host only reads its source.

Arguments: a JSON object with ``engine``, ``imports`` and ``argv``; without an engine no command line is judged. The
answer is the last line that begins with MARK.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import io
import json
import os
import platform
import re
import sys
from typing import Any

MARK = "DGXSPARK-PROBE "
# Packages by the names under which their versions are compared.
PACKAGES = {
    "vllm": ("vllm",),
    "sglang": ("sglang",),
    "torch": ("torch",),
    "ray": ("ray",),
    "nccl": ("nvidia-nccl-cu13", "nvidia-nccl-cu12"),
}
# Values of these are files that only the engine's own container sees.
NEEDS_FILES = ("--config",)


def versions() -> dict[str, str]:
    """Versions of Python, CUDA and the packages that matter, from their own records: nothing is imported."""
    found = {"python": platform.python_version()}
    for name, packages in PACKAGES.items():
        for package in packages:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                found.setdefault(name, importlib.metadata.version(package))
    cuda = cuda_of_torch() or os.environ.get("CUDA_VERSION", "")
    return {**found, "cuda": cuda} if cuda else found


def cuda_of_torch() -> str:
    """The CUDA that PyTorch was built for; empty when it does not say."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError, OSError):
        record = str(importlib.metadata.distribution("torch").locate_file("torch/version.py"))
        with open(record, encoding="utf-8") as stream:
            said = re.search(r"^cuda\b.*?=\s*['\"]([\d.]+)", stream.read(), re.MULTILINE)
        return said[1] if said else ""
    return ""


def missing(names: list[str]) -> dict[str, str]:
    """Modules that cannot be imported, and what Python says of them."""
    found = {}
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            found[name] = str(error)
    return found


def parse_vllm(argv: list[str]) -> str:
    """Let vLLM itself read ``vllm serve ...``; what it has against it, or nothing."""
    arguments = first("vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args")
    parsers = first("vllm.utils.argparse_utils", "vllm.utils")
    parser = arguments.make_arg_parser(parsers.FlexibleArgumentParser(prog="vllm serve"))
    parsed, refusal = refused(parser, argv[2:])
    if refusal:
        return refusal
    validate = getattr(arguments, "validate_parsed_serve_args", None)
    try:
        if validate is not None:
            validate(parsed)
    except (TypeError, ValueError) as error:
        # What does not begin like this is about a file, such as a chat template, that is not mounted here.
        return str(error).removeprefix("Error: ") if str(error).startswith("Error: --") else ""
    return ""


def first(*names: str) -> Any:
    """The first of these modules that there is; versions of an engine differ."""
    for name in names[:-1]:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    return importlib.import_module(names[-1])


def parse_sglang(argv: list[str]) -> str:
    """Let SGLang itself read ``python3 -m sglang.launch_server ...``; what it has against it, or nothing."""
    parser = argparse.ArgumentParser(prog="sglang.launch_server")
    importlib.import_module("sglang.srt.server_args").ServerArgs.add_cli_args(parser)
    return refused(parser, argv[3:])[1]


def refused(parser: argparse.ArgumentParser, argv: list[str]) -> tuple[argparse.Namespace | None, str]:
    """What a parser makes of a command line, or the last line with which it refuses it."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return parser.parse_args(argv), ""
    except SystemExit as end:
        lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
        return None, (lines[-1] if lines else f"the parser ended with {end.code}")


PARSERS = {"vllm": parse_vllm, "sglang": parse_sglang}


def answer(question: dict) -> dict:
    """``versions``, ``missing``, ``refusal``, and ``unknown``: why the command line could not be judged."""
    said = {"versions": versions(), "missing": missing(question["imports"]), "refusal": "", "unknown": ""}
    argv = question["argv"]
    if not question["engine"]:
        return said
    if any(word.partition("=")[0] in NEEDS_FILES for word in argv):
        return {**said, "unknown": "its options are in a file that is not seen here"}
    try:
        return {**said, "refusal": PARSERS[question["engine"]](argv)}
    except Exception as error:
        # An engine of another version, or one that cannot even be imported without a GPU: that proves nothing.
        return {**said, "unknown": f"{type(error).__name__}: {error}"[:300]}


if __name__ == "__main__":
    sys.stdout.write(MARK + json.dumps(answer(json.loads(sys.argv[1]))) + "\n")
