# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The double's flags: those of vLLM in all its spellings, and no other."""

from __future__ import annotations

import pytest

from lab.engines.double.command_line import parse_serve
from lab.engines.double.serve_parser import UsageError, read_command_line


def test_mp_ranks_as_they_are_written() -> None:
    arguments = ["m", "-tp", "2", "--pipeline_parallel_size=1", "-n", "2", "-r", "1", "--headless"]
    arguments += ["--master-addr", "10.100.0.1", "--master-port", "29501", "--distributed-timeout-seconds", "300"]
    options = parse_serve([*arguments, "--distributed-executor-backend", "mp", "--max-model-len", "4k"])
    assert (options.tensor_parallel_size, options.pipeline_parallel_size, options.nnodes) == (2, 1, 2)
    assert (options.node_rank, options.headless, options.master_addr) == (1, True, "10.100.0.1")
    assert (options.distributed_timeout, options.max_model_len, options.executor) == (300.0, 4000, "mp")


def test_flags_that_change_nothing_are_taken() -> None:
    flags = ["--enable-prefix-caching", "--no-enable-log-requests", "--kv-cache-dtype", "fp8", "-O3", "--hf-token"]
    flags += ["--compilation-config.mode", "3", "-cc.pass_config.fuse=true", "--gpu-memory-utilization", "0.7"]
    given = read_command_line(["m", "--allowed-media-domains", "a", "b", *flags])
    assert given.compilation_config == '{"pass_config": {"fuse": true}}'
    assert (given.optimization_level, given.enable_log_requests, given.allowed_media_domains) == (
        "3",
        False,
        ["a", "b"],
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bogus", "1"], "unrecognized arguments: --bogus 1"),
        (["extra"], "unrecognized arguments: extra"),
        (["--port", "abc"], "argument --port: invalid int value: 'abc'"),
        (["--max-model-len"], "argument --max-model-len: expected one argument"),
        (["--max-model-len", "much"], "argument --max-model-len: invalid length 'much'"),
        (["--no-headless"], "unrecognized arguments: --no-headless"),
        (["--enable-auto-tool-choice"], "Error: --enable-auto-tool-choice requires --tool-call-parser"),
        (["--distributed-timeout-seconds", "soon"], "argument --distributed-timeout-seconds: invalid value: 'soon'"),
        (["--nnodes", "2", "-tp", "3"], "world size 3 cannot be spread over 2 nodes"),
    ],
)
def test_flags_that_are_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_serve(["m", *arguments])
    assert str(caught.value) == message
