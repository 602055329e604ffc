# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as commands."""

from __future__ import annotations

import shlex

from ansible_collections.dgxspark.serving.plugins.module_utils.report.explain import docker_run, explain, folded

RANK = {
    "rank": 1,
    "container": {
        "name": "dgxspark-big-0-r1",
        "image": "acme/vllm:1",
        "entrypoint": ["vllm"],
        "command": ["serve", "acme/tiny model", "--headless", "--node-rank", "1"],
        "env": {"NCCL_IB_HCA": "rocep1s0f0,roceP2p1s0f0"},
        "labels": {"dgxspark.serving.rank": "1"},
        "ulimits": ["memlock:-1:-1"],
        "devices": ["/dev/infiniband"],
        "capabilities": ["IPC_LOCK"],
        "model_mount": "/models/hub",
        "mounts": [{"type": "bind", "source": "/usr/local/lib/x", "target": "/opt/x", "read_only": True}],
    },
}
REPLICA = {
    "name": "big-0",
    "hosts": ["s1", "s2"],
    "endpoint": "http://192.0.2.1:8000",
    "tensor_parallel_size": 2,
    "pipeline_parallel_size": 1,
    "backend": "mp",
    "transport": "roce",
}


def test_a_shell_reads_the_folded_command_as_it_was() -> None:
    groups = docker_run(RANK)
    pasted = "\n".join(folded(groups)).replace("\\\n", "")
    assert shlex.split(pasted) == [word for group in groups for word in group]


def test_it_is_the_docker_run_that_a_person_would_type() -> None:
    words = [word for group in docker_run(RANK) for word in group]
    assert words[:3] == ["docker", "run", "--detach"]
    assert words[words.index("--entrypoint") : words.index("--entrypoint") + 3] == [
        "--entrypoint",
        "vllm",
        "acme/vllm:1",
    ]
    assert words[-5:] == ["serve", "acme/tiny model", "--headless", "--node-rank", "1"]
    for pair in (
        ["--device", "/dev/infiniband"],
        ["--cap-add", "IPC_LOCK"],
        ["--ulimit", "memlock=-1:-1"],
        ["--volume", "MODEL_ON_HOST:/models/hub:ro"],
        ["--volume", "/usr/local/lib/x:/opt/x:ro"],
    ):
        assert pair in [words[at : at + 2] for at in range(len(words))]


def test_workers_come_first_as_they_start() -> None:
    lead = {**RANK, "rank": 0}
    lines = explain({"replicas": [REPLICA], "ranks": {"s1": lead, "s2": RANK}})
    assert [line for line in lines if line.startswith("#")] == ["# s2: rank 1 of big-0", "# s1: rank 0 of big-0"]
    assert lines[2].split() == ["big-0", "0", "s1", "TP=2", "PP=1", "mp", "roce", "http://192.0.2.1:8000"]
