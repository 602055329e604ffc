# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine's container was started with, from what Docker says of it. Pure; never a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.containers import (
    DEPLOYMENT_LABEL,
    DIGEST_LABEL,
    LABEL_PREFIX,
    RANK_LABEL,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.evidence import hide_in_argv

# What an environment says of speed, and what in it could be a secret all the same.
_TELLING = re.compile(r"(NCCL|GLOO|UCX|VLLM|SGLANG|RAY|TORCH|CUDA|OMP)_\w+")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
# Flags by the names under which a result keeps their values; the first one that is there counts.
FLAGS = {
    "max_model_len": ("--max-model-len", "--context-length"),
    "max_num_seqs": ("--max-num-seqs", "--max-running-requests"),
    "gpu_memory_utilization": ("--gpu-memory-utilization", "--mem-fraction-static"),
    "quant": ("--quantization", "-q"),
    "kv_dtype": ("--kv-cache-dtype",),
    "executor": ("--distributed-executor-backend",),
}


def rank_of(inspected: Mapping[str, Any]) -> dict[str, Any]:
    """One of our containers.

    :param inspected: an entry of ``docker container inspect``
    """
    config = inspected["Config"]
    labels = config.get("Labels") or {}
    return {
        "name": inspected["Name"].removeprefix("/"),
        "deployment": labels.get(DEPLOYMENT_LABEL, ""),
        "replica": labels.get(f"{LABEL_PREFIX}replica", ""),
        "rank": int(labels.get(RANK_LABEL, 0)),
        "spec_digest": labels.get(DIGEST_LABEL, ""),
        "image": config.get("Image", ""),
        "image_id": inspected.get("Image", ""),
        "argv": hide_in_argv([inspected.get("Path", ""), *(inspected.get("Args") or [])]),
        "env": environment(config.get("Env") or []),
        "started_at": inspected["State"].get("StartedAt", ""),
    }


def environment(entries: Sequence[str]) -> dict[str, str]:
    """What of an environment has to do with speed.

    >>> environment(["NCCL_IB_HCA=rocep1s0f0", "HF_TOKEN=hf_x", "VLLM_API_KEY=k", "PATH=/bin"])
    {'NCCL_IB_HCA': 'rocep1s0f0'}
    """
    pairs = (entry.partition("=") for entry in entries)
    return {name: value for name, _equals, value in pairs if _TELLING.fullmatch(name) and not _SECRET.search(name)}


def flags(argv: Sequence[str]) -> dict[str, str]:
    """The values of the flags in FLAGS, those that are given.

    >>> flags(["vllm", "serve", "/m", "--max-model-len=4096", "--max-num-seqs", "8"])
    {'max_model_len': '4096', 'max_num_seqs': '8'}
    """
    given = {}
    for word, following in pairwise([*argv, ""]):
        flag, equals, value = word.partition("=")
        given[flag.replace("_", "-")] = value if equals else following
    found = {}
    for name, spellings in FLAGS.items():
        value = next((given[flag] for flag in spellings if flag in given), None)
        if value is not None:
            found[name] = value
    return found
