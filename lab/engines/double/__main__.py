# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run as `vllm` or `ray`: the name by which it is called decides, or the first argument."""

from __future__ import annotations

import asyncio
import os
import sys

from . import VERSION, ray_command
from .command_line import parse_serve
from .faults import FaultError, Faults
from .model_folder import context_length
from .serve_parser import UsageError
from .server import Server


async def _serve(arguments: list[str]) -> int:
    options = parse_serve(arguments)
    context_length(options.model)
    return await Server(options, Faults(os.environ.get("DOUBLE_FAULTS", ""))).run()


def vllm(arguments: list[str]) -> int:
    """Run one `vllm` command; returns the exit code."""
    if arguments in (["--version"], ["-v"]):
        print(VERSION)
        return 0
    if not arguments or arguments[0] != "serve":
        print("usage: vllm serve MODEL [options]", file=sys.stderr)
        return 2
    try:
        return asyncio.run(_serve(arguments[1:]))
    except UsageError as error:
        print(f"usage: vllm serve [model_tag] [options]\nvllm serve: error: {error}", file=sys.stderr)
        return 2
    except FaultError as error:
        print(f"vllm serve: {error}", file=sys.stderr)
        return 2


def main() -> int:
    """Find the command and run it."""
    name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
    if name not in {"vllm", "ray"}:
        name, arguments = (arguments or [""])[0], arguments[1:]
    return ray_command.main(arguments) if name == "ray" else vllm(arguments)


if __name__ == "__main__":
    sys.exit(main())
