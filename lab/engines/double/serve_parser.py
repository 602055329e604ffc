# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parser of `vllm serve`: which flags there are, how they may be written, what may follow them."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from . import serve_flags

EXECUTORS = ("mp", "ray", "uni", "external_launcher")
UNITS = {"k": 10**3, "K": 2**10, "m": 10**6, "M": 2**20, "g": 10**9, "G": 2**30}
#: A field of a JSON flag given alone: --compilation-config.mode 3, or -cc.mode=3.
FIELD = re.compile(r"(--?[A-Za-z][\w-]*)\.([\w.]+)(?:=(.*))?", re.DOTALL)


class UsageError(Exception):
    """The command line cannot be taken; the text is for the user."""


def model_length(value: str) -> int:
    """Read --max-model-len: a number, with a unit or not, or `auto` (-1)."""
    if value in {"auto", "-1"}:
        return -1
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgG]?)", value)
    if not match:
        raise argparse.ArgumentTypeError(f"invalid length {value!r}")
    return int(float(match[1]) * UNITS.get(match[2], 1))


def nested(fields: str, value: str) -> str:
    """Return the JSON of one field, such as `mode` or `pass_config.fuse`."""
    try:
        tree: Any = json.loads(value)
    except ValueError:
        tree = value
    for name in reversed(fields.split(".")):
        tree = {name: tree}
    return json.dumps(tree)


def as_written_out(arguments: Sequence[str]) -> list[str]:
    """Return a command line with `-` for `_` in flags, and with fields and levels as the flags they mean."""
    spelled: list[str] = []
    given = iter(arguments)
    for argument in given:
        field = FIELD.fullmatch(argument)
        if field:
            value = field[3] if field[3] is not None else next(given, "")
            spelled += [field[1].replace("_", "-"), nested(field[2], value)]
        elif re.fullmatch(r"-O\d", argument):
            spelled += ["--optimization-level", argument[2:]]
        elif argument.startswith("--"):
            name, equals, value = argument.partition("=")
            spelled.append(name.replace("_", "-") + equals + value)
        else:
            spelled.append(argument)
    return spelled


class FlexibleArgumentParser(argparse.ArgumentParser):
    """A parser that takes flags in all of vLLM's spellings."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse flags written with dashes or underscores."""
        return super().parse_known_args(None if args is None else as_written_out(args), namespace)


def make_arg_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add MODEL and the flags of `vllm serve`."""
    short = {name: f"-{letters}" for letters, name in serve_flags.SHORT.items()}

    def add(names: Sequence[str], **how: Any) -> None:
        for name in names:
            spellings = [f"--{name}", *([short[name]] if name in short else [])]
            if name == "gpu-memory-utilization":
                spellings.append("--device-memory-utilization")
            parser.add_argument(*spellings, **how)

    parser.add_argument("model_tag", nargs="?")
    add(serve_flags.SWITCHES, action=argparse.BooleanOptionalAction)
    add(serve_flags.PLAIN_SWITCHES, action="store_true")
    add(serve_flags.INTEGERS, type=int)
    add(serve_flags.NUMBERS, type=float)
    add(serve_flags.MANY, nargs="+")
    add(serve_flags.OPTIONAL, nargs="?")
    values = set(serve_flags.VALUES) - {"max-model-len", "distributed-executor-backend"}
    add(sorted(values))
    add(["max-model-len"], type=model_length)
    add(["distributed-executor-backend"], choices=EXECUTORS)
    return parser


def validate_parsed_serve_args(given: argparse.Namespace) -> None:
    """Raise TypeError for flags that need each other."""
    if given.enable_auto_tool_choice and not given.tool_call_parser:
        raise TypeError("Error: --enable-auto-tool-choice requires --tool-call-parser")
    if given.enable_log_outputs and not given.enable_log_requests:
        raise TypeError("Error: --enable-log-outputs requires --enable-log-requests")


class _Raising(FlexibleArgumentParser):
    """Raises where the other prints and exits."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message)


def read_command_line(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse and validate what follows `vllm serve`; raises UsageError."""
    given = make_arg_parser(_Raising(prog="vllm serve")).parse_args(list(arguments))
    try:
        validate_parsed_serve_args(given)
    except TypeError as error:
        raise UsageError(str(error)) from None
    return given
