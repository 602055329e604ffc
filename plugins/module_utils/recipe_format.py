# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that the recipe formats know, and what each of them is to us."""

from __future__ import annotations

VERSIONS = ("1", "2")

# Runtime of a recipe: our engine, and the backend it means.
RUNTIMES = {
    "vllm": ("vllm", ""),
    "vllm-distributed": ("vllm", "mp"),
    "vllm-ray": ("vllm", "ray"),
    "eugr-vllm": ("vllm", "ray"),
    "sglang": ("sglang", ""),
}

READ = {
    "command", "cluster_only", "container", "defaults", "env", "max_nodes", "min_nodes", "mode", "model",
    "model_revision", "recipe_version", "runtime", "runtime_config", "solo_only",
}  # fmt: skip
INFORMATIVE = {"description", "maintainer", "metadata", "name", "runtime_version", "sparkrun_version"}

# What is not honoured, and why.
NOTED = {
    "benchmark": "a deployment runs no benchmark",
    "build_args": "images are not built here; the hosts must have this one",
    "builder": "images are not built here; the hosts must have this one",
    "builder_config": "images are not built here; the hosts must have this one",
    "distribution_config": "the plan knows which host needs which model and image",
    "executor_config": "the plan decides how containers run",
    "stop_after_post": "a replica serves until it is stopped",
}

# What would run foreign code on hosts or on the controller.
HOOKS = {
    "mods": "patches the container before the engine starts",
    "pre_exec": "runs commands in every container before the engine starts",
    "post_exec": "runs commands in the first container when the engine answers",
    "post_commands": "runs commands on the controller when the engine answers",
}
CODE_FLAGS = {
    "trust-remote-code": "runs Python code that comes with the model",
    "tool-parser-plugin": "runs a Python file as tool parser",
    "reasoning-parser-plugin": "runs a Python file as reasoning parser",
}

# Flags that are variables of ours, by engine.
_COMMON = {
    "host": "listen_address",
    "port": "port",
    "revision": "model_revision",
    "served-model-name": "served_model_name",
}
SETTINGS = {
    "vllm": {
        **_COMMON,
        "distributed-timeout-seconds": "distributed_timeout",
        "gpu-memory-utilization": "gpu_memory_utilization",
        "pipeline-parallel-size": "pipeline_parallel_size",
        "tensor-parallel-size": "tensor_parallel_size",
    },
    "sglang": {
        **_COMMON,
        "dist-timeout": "distributed_timeout",
        "mem-fraction-static": "gpu_memory_utilization",
        "pp-size": "pipeline_parallel_size",
        "tp-size": "tensor_parallel_size",
    },
}
BACKEND_FLAG = "distributed-executor-backend"
# Flags that differ from rank to rank: the plan says them.
RANK_FLAGS = {"dist-init-addr", "headless", "master-addr", "master-port", "nnodes", "node-rank"}
# Flags that may say 1 only: a Spark has one GPU, and copies of an engine are replicas.
SINGLE_FLAGS = {"data-parallel-size", "data-parallel-size-local", "dp-size", "prefill-context-parallel-size"}

# Names of defaults that are variables of ours.
SYNONYMS = {
    "context_length": "max_model_len",
    "distributed_executor_backend": "backend",
    "host": "listen_address",
    "mem_fraction_static": "gpu_memory_utilization",
    "pipeline_parallel": "pipeline_parallel_size",
    "tensor_parallel": "tensor_parallel_size",
    "tp_size": "tensor_parallel_size",
    "pp_size": "pipeline_parallel_size",
}
# What a default means where the recipe has no command: further defaults, and their flags.
PLAIN_FLAGS = {
    "vllm": {
        "data_parallel": "data-parallel-size",
        "dtype": "dtype",
        "enable_auto_tool_choice": "enable-auto-tool-choice",
        "enable_prefix_caching": "enable-prefix-caching",
        "enforce_eager": "enforce-eager",
        "kv_cache_dtype": "kv-cache-dtype",
        "max_model_len": "max-model-len",
        "max_num_batched_tokens": "max-num-batched-tokens",
        "max_num_seqs": "max-num-seqs",
        "quantization": "quantization",
        "trust_remote_code": "trust-remote-code",
    },
    "sglang": {
        "chunked_prefill": "chunked-prefill-size",
        "disable_radix_cache": "disable-radix-cache",
        "dtype": "dtype",
        "enable_torch_compile": "enable-torch-compile",
        "kv_cache_dtype": "kv-cache-dtype",
        "max_model_len": "context-length",
        "max_num_seqs": "max-running-requests",
        "quantization": "quantization",
        "trust_remote_code": "trust-remote-code",
    },
}

# Variables whose value differs from host to host (field faults N04 and N17): the plan knows them, a recipe cannot.
HOST_ENV = {
    "GLOO_SOCKET_IFNAME", "MASTER_ADDR", "MASTER_PORT", "NCCL_IB_GID_INDEX", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME",
    "OMPI_MCA_btl_tcp_if_include", "RAY_ADDRESS", "TP_SOCKET_IFNAME", "UCX_NET_DEVICES", "VLLM_HOST_IP",
}  # fmt: skip
HUB_TOKENS = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "MODELSCOPE_API_TOKEN"}
