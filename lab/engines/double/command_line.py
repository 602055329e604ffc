# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of `vllm serve`: what the double acts on. Other flags must exist, and change nothing."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

from .serve_parser import UsageError, read_command_line

DEFAULT_PORT = 8000
DEFAULT_MASTER_PORT = 29501
DEFAULT_MAX_SEQUENCES = 256
MOST = 1 << 31


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

    @property
    def world_size(self) -> int:
        """How many ranks the engine has."""
        return self.tensor_parallel_size * self.pipeline_parallel_size


def _number(given: argparse.Namespace, flag: str, default: int, low: int = 1, high: int = MOST) -> int:
    """Return a whole number, or the default; raises UsageError for one that is out of range."""
    value = getattr(given, flag.replace("-", "_"))
    number = default if value is None else int(value)
    if not low <= number <= high:
        raise UsageError(f"argument --{flag}: {number} is not between {low} and {high}")
    return number


def _timeout(value: str | None) -> float | None:
    """Read --distributed-timeout-seconds; raises UsageError."""
    if value is not None and not value.isdigit():
        raise UsageError(f"argument --distributed-timeout-seconds: invalid value: {value!r}")
    return float(value) if value and int(value) else None


def parse_serve(arguments: list[str]) -> ServeOptions:
    """Read what follows `vllm serve`; raises UsageError."""
    given = read_command_line(arguments)
    model = given.model_tag or given.model
    if not model:
        raise UsageError("the following arguments are required: model_tag")
    nnodes = _number(given, "nnodes", 1)
    length = given.max_model_len
    options = ServeOptions(
        model=model,
        served_names=tuple(given.served_model_name or (model,)),
        host=given.host or "0.0.0.0",
        port=_number(given, "port", DEFAULT_PORT, 0, 65535),
        api_keys=tuple(given.api_key or [key for key in [os.environ.get("VLLM_API_KEY", "")] if key]),
        max_model_len=length if length and length > 0 else None,
        max_num_seqs=_number(given, "max-num-seqs", DEFAULT_MAX_SEQUENCES),
        tensor_parallel_size=_number(given, "tensor-parallel-size", 1),
        pipeline_parallel_size=_number(given, "pipeline-parallel-size", 1),
        nnodes=nnodes,
        node_rank=_number(given, "node-rank", 0, 0, nnodes - 1),
        master_addr=given.master_addr or "127.0.0.1",
        master_port=_number(given, "master-port", DEFAULT_MASTER_PORT, 1, 65535),
        headless=given.headless,
        executor=given.distributed_executor_backend or "mp",
        distributed_timeout=_timeout(given.distributed_timeout_seconds),
    )
    if nnodes > 1 and options.world_size % nnodes:
        raise UsageError(f"world size {options.world_size} cannot be spread over {nnodes} nodes")
    if options.headless and options.node_rank == 0 and nnodes > 1:
        raise UsageError("the node with rank 0 serves the API and cannot be headless")
    return options
