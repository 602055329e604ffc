# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of a container that is measured."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.provenance import running

INSPECTED = {
    "Name": "/dgxspark-main-0-r0",
    "Image": "sha256:11",
    "Path": "vllm",
    "Args": ["serve", "/model", "--max-model-len", "4096", "--api-key", "sk-hidden-1", "--api-key=sk-hidden-2"],
    "State": {"StartedAt": "2026-11-30T10:00:00Z"},
    "Config": {
        "Image": "acme/vllm:1",
        "Env": ["NCCL_IB_HCA=rocep1s0f0", "VLLM_API_KEY=sk-hidden-3", "HF_TOKEN=hf_hidden4", "HOME=/root"],
        "Labels": {
            "dgxspark.serving.deployment": "main",
            "dgxspark.serving.replica": "main-0",
            "dgxspark.serving.rank": "1",
            "dgxspark.serving.spec_digest": "d1",
        },
    },
}


def test_a_rank_is_described_without_its_secrets() -> None:
    found = running.rank_of(INSPECTED)
    assert "hidden" not in json.dumps(found)
    assert (found["name"], found["deployment"], found["replica"], found["rank"]) == (
        "dgxspark-main-0-r0", "main", "main-0", 1,
    )  # fmt: skip
    assert found["argv"][:5] == ["vllm", "serve", "/model", "--max-model-len", "4096"]
    assert found["env"] == {"NCCL_IB_HCA": "rocep1s0f0"}
    assert (found["image"], found["image_id"], found["spec_digest"]) == ("acme/vllm:1", "sha256:11", "d1")


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["vllm", "serve"], {}),
        (["--gpu_memory_utilization=0.8"], {"gpu_memory_utilization": "0.8"}),
        (["--context-length", "8192"], {"max_model_len": "8192"}),
        (["--kv-cache-dtype", "fp8", "--quantization=awq"], {"kv_dtype": "fp8", "quant": "awq"}),
        (["--max-num-seqs"], {"max_num_seqs": ""}),
    ],
)
def test_flags_in_their_spellings(argv: list[str], wanted: dict[str, str]) -> None:
    assert running.flags(argv) == wanted
