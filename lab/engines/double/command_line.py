# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of `vllm serve`: what the double acts on, and all other flags kept as they are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

DEFAULT_PORT = 8000
DEFAULT_MASTER_PORT = 29501
DEFAULT_MAX_SEQUENCES = 256

#: Flags without a value that can stand before MODEL; after MODEL any flag may have values or none.
SWITCHES = re.compile(r"(enable|disable|no|enforce|trust|headless|skip|async)(-|$)")
MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


class UsageError(Exception):
    """The command line cannot be taken; the text is for the user."""


@dataclass(frozen=True)
class ServeOptions:
    """One `vllm serve` command."""

    model: str
    served_names: tuple[str, ...]
    host: str = "0.0.0.0"
    port: int = DEFAULT_PORT
    api_keys: tuple[str, ...] = ()
    max_model_len: int | None = None
    max_num_seqs: int = DEFAULT_MAX_SEQUENCES
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    nnodes: int = 1
    node_rank: int = 0
    master_addr: str = "127.0.0.1"
    master_port: int = DEFAULT_MASTER_PORT
    headless: bool = False
    executor: str = "mp"
    distributed_timeout: float | None = None
    other: dict[str, list[str]] = field(default_factory=dict)

    @property
    def world_size(self) -> int:
        """How many ranks the engine has."""
        return self.tensor_parallel_size * self.pipeline_parallel_size


def split_flags(arguments: list[str]) -> tuple[str | None, dict[str, list[str]]]:
    """Return MODEL and each flag (without dashes, with `-` for `_`) with its values; of a repeated flag the last."""
    model: str | None = None
    flags: dict[str, list[str]] = {}
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        position += 1
        if not argument.startswith("--"):
            if model is not None:
                raise UsageError(f"unrecognized arguments: {argument}")
            model = argument
            continue
        name, equals, value = argument[2:].partition("=")
        name = name.replace("_", "-")
        flags[name] = [value] if equals else []
        at_most = 0 if equals else (len(arguments) if model is not None else int(not SWITCHES.match(name)))
        while at_most and position < len(arguments) and not arguments[position].startswith("--"):
            flags[name].append(arguments[position])
            position += 1
            at_most -= 1
    return model, flags


class _Flags:
    """Typed reading of flags; what is never read stays in `left`."""

    def __init__(self, flags: dict[str, list[str]]) -> None:
        self.left = dict(flags)

    def texts(self, *names: str) -> list[str]:
        found: list[str] = []
        for name in names:
            if name in self.left:
                found = self.left.pop(name)
                if not found:
                    raise UsageError(f"argument --{name}: expected at least one argument")
        return found

    def text(self, default: str, *names: str) -> str:
        values = self.texts(*names)
        return values[-1] if values else default

    def number(self, default: int, low: int, high: int, *names: str) -> int:
        value = self.text(str(default), *names)
        try:
            number = int(value)
        except ValueError:
            raise UsageError(f"argument --{names[0]}: invalid int value: {value!r}") from None
        if not low <= number <= high:
            raise UsageError(f"argument --{names[0]}: {number} is not between {low} and {high}")
        return number

    def switch(self, name: str) -> bool:
        return self.left.pop(name, None) is not None


def parse_serve(arguments: list[str]) -> ServeOptions:
    """Read what follows `vllm serve`; raises UsageError."""
    model, given = split_flags(arguments)
    flags = _Flags(given)
    model = flags.text(model or "", "model")
    if not model:
        raise UsageError("the following arguments are required: model_tag")
    executor = flags.text("mp", "distributed-executor-backend")
    if executor not in {"mp", "ray", "uni", "external_launcher"}:
        raise UsageError(f"argument --distributed-executor-backend: invalid choice: {executor!r}")
    most = 1 << 31
    nnodes = flags.number(1, 1, most, "nnodes", "n")
    timeout = flags.number(0, 0, most, "distributed-timeout-seconds")
    length = flags.text("", "max-model-len").lower().replace("k", "000")
    options = ServeOptions(
        model=model,
        served_names=tuple(flags.texts("served-model-name")) or (model,),
        host=flags.text("0.0.0.0", "host"),
        port=flags.number(DEFAULT_PORT, 0, 65535, "port"),
        api_keys=tuple(flags.texts("api-key") or [key for key in [os.environ.get("VLLM_API_KEY", "")] if key]),
        max_model_len=int(length) if length.isdigit() else None,
        max_num_seqs=flags.number(DEFAULT_MAX_SEQUENCES, 1, most, "max-num-seqs"),
        tensor_parallel_size=flags.number(1, 1, most, "tensor-parallel-size", "tp"),
        pipeline_parallel_size=flags.number(1, 1, most, "pipeline-parallel-size", "pp"),
        nnodes=nnodes,
        node_rank=flags.number(0, 0, nnodes - 1, "node-rank", "r"),
        master_addr=flags.text("127.0.0.1", "master-addr"),
        master_port=flags.number(DEFAULT_MASTER_PORT, 1, 65535, "master-port"),
        headless=flags.switch("headless"),
        executor=executor,
        distributed_timeout=float(timeout) if timeout else None,
        other=flags.left,
    )
    if nnodes > 1 and options.world_size % nnodes:
        raise UsageError(f"world size {options.world_size} cannot be spread over {nnodes} nodes")
    if options.headless and options.node_rank == 0 and nnodes > 1:
        raise UsageError("the node with rank 0 serves the API and cannot be headless")
    return options
