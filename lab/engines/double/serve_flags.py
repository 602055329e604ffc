# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flags of `vllm serve` 0.32, by what may follow each; its own parser was asked for them."""

from __future__ import annotations

#: Flags without a value that have a `--no-` form.
SWITCHES = """
    allow-credentials allow-deprecated-quantization async-scheduling cohere-is-reasoning-model cudagraph-metrics
    data-parallel-external-lb data-parallel-hybrid-lb dcp-q-replicate disable-cascade-attn disable-chunked-mm-input
    disable-custom-all-reduce disable-fastapi-docs disable-hybrid-kv-cache-manager
    disable-nccl-for-dp-synchronization disable-sliding-window disable-uvicorn-access-log enable-auto-tool-choice
    enable-batch-sharded-sampling enable-chunked-prefill enable-cumem-allocator enable-dbo enable-elastic-ep
    enable-ep-weight-filter enable-eplb enable-expert-parallel enable-fault-tolerance enable-flash-late-interaction
    enable-flashinfer-autotune enable-force-include-usage enable-hc-sp enable-layerwise-nvtx-tracing
    enable-log-deltas enable-log-outputs enable-log-requests enable-logging-iteration-details enable-lora
    enable-mamba-cache-stochastic-rounding enable-mamba-shared-prefix-checkpoint enable-mfu-metrics
    enable-mixed-moe-lora-format enable-mm-embeds enable-moe-shared-loras enable-nccl-comm-suspend
    enable-offline-docs enable-per-request-metrics enable-prefix-caching enable-prompt-embeds
    enable-prompt-tokens-details enable-request-id-headers enable-return-routed-experts enable-scale-out
    enable-server-load-tracking enable-shm-tensor-arena enable-sleep-mode enable-ssl-refresh
    enable-tokenizer-info-endpoint enable-tower-connector-lora enable-trace-replay enforce-eager
    exclude-tools-when-tool-choice-none fail-on-environ-validation fully-sharded-loras interleave-mm-strings
    jit-monitor-verbose kv-cache-metrics kv-sharing-fast-prefill language-model-only log-error-stack
    long-prefill-token-threshold-adaptive mm-device-do-normalize mm-encoder-only numa-bind ray-workers-use-nsight
    return-sampling-mask return-tokens-as-token-ids scheduler-reserve-full-isl skip-mm-profiling skip-tokenizer-init
    sleep-mode-offload-cudagraph specialize-active-lora swa-bounded-replay tokens-only trust-remote-code
    trust-request-chat-template trust-request-mm-kwargs use-fp64-gumbel use-replayssm use-tqdm-on-load
""".split()

#: Flags without a value and without a `--no-` form.
PLAIN_SWITCHES = """
    aggregate-engine-logging data-parallel-multi-port-external-lb disable-log-stats grpc headless
""".split()

#: Flags with a whole number.
INTEGERS = """
    api-server-count block-size cp-kv-cache-interleave-size data-parallel-rank data-parallel-rpc-port
    data-parallel-size data-parallel-size-local data-parallel-start-rank data-parallel-supervisor-port
    dbo-decode-token-threshold dbo-prefill-token-threshold dcp-kv-cache-interleave-size decode-context-parallel-size
    dp-supervisor-probe-failure-threshold dp-sync-interval elastic-ep-max-dp-size h11-max-header-count
    h11-max-incomplete-event-size long-prefill-token-threshold mamba-cache-philox-rounds master-port
    max-cudagraph-capture-size max-logprobs max-lora-rank max-loras max-num-seqs mm-shm-cache-max-object-size-mb
    nnodes node-rank offload-group-size offload-num-in-group offload-prefetch-step pipeline-parallel-size port
    prefill-context-parallel-size prefill-schedule-interval renderer-num-workers replayssm-buffer-len
    safetensors-prefetch-num-threads seed shutdown-timeout spec-tokens sse-keep-alive-interval ssl-cert-reqs
    stream-interval tensor-parallel-size ubatch-size
""".split()

#: Flags with a number.
NUMBERS = """
    cpu-offload-gb dp-supervisor-probe-interval-s dp-supervisor-probe-timeout-s gpu-memory-utilization
    kv-cache-metrics-sample mm-encoder-fp8-scale-save-margin mm-ipc-gpu-memory-gb mm-processor-cache-gb watermark
""".split()

#: Flags with one or more values.
MANY = """
    allowed-media-domains api-key collect-detailed-traces cpu-offload-params cudagraph-capture-sizes ignore-patterns
    kv-cache-dtype-skip-layers logits-processors lora-modules lora-target-modules numa-bind-cpus numa-bind-nodes
    offload-params served-model-name sleep-preserve-parameter-names
""".split()

#: Flags whose value may be left out.
OPTIONAL = """
    hf-token
""".split()

#: Flags with one value of any other kind.
VALUES = """
    additional-config all2all-backend allowed-headers allowed-local-media-path allowed-methods allowed-origins
    anthropic-disabled-thinking-effort attention-backend attention-config aux-output-config chat-template
    chat-template-content-format code-revision cohere-format compilation-config config config-format convert
    cpu-distributed-timeout-seconds custom-histogram-buckets data-parallel-address data-parallel-backend
    dcp-comm-backend default-chat-template-kwargs default-mm-loras device-ids diffusion-config
    disable-access-log-for-endpoints distributed-executor-backend distributed-timeout-seconds download-dir dtype
    ec-manager-config ec-transfer-config engram-config eplb-config expert-placement-strategy fault-tolerance-config
    fingerprint-mode fingerprint-value gdn-prefill-backend generation-config grpc-port hf-config-path hf-overrides
    host io-processor-plugin ir-op-priority jit-monitor-mode kda-decode-backend kda-prefill-backend kernel-config
    kv-cache-dtype kv-cache-memory-bytes kv-events-config kv-offloading-backend kv-offloading-size
    kv-transfer-config limit-mm-per-prompt linear-backend load-format log-config-file log-level logging-config
    logprobs-mode lora-dtype mamba-backend mamba-block-size mamba-cache-dtype mamba-cache-mode mamba-ssm-cache-dtype
    mamba-ssu-algorithm master-addr max-cpu-loras max-log-len max-lora-cls-labels max-model-len max-num-active-seqs
    max-num-batched-tokens max-num-queued-reqs max-num-queued-tokens max-num-scheduled-tokens
    max-parallel-loading-workers media-io-kwargs middleware mm-encoder-attn-backend mm-encoder-attn-dtype
    mm-encoder-fp8-scale-path mm-encoder-fp8-scale-save-path mm-encoder-tp-mode mm-hasher-algorithm
    mm-processor-cache-type mm-processor-device mm-processor-kwargs mm-tensor-ipc model model-class-overrides
    model-impl model-loader-extra-config moe-backend num-gpu-blocks-override offload-backend optimization-level
    otlp-traces-endpoint override-generation-config per-request-spec-decode-metrics performance-mode pooler-config
    prefix-cache-retention-interval prefix-caching-hash-algo prefix-match-unit profiler-config pt-load-map-location
    quantization quantization-config reasoning-config reasoning-parser reasoning-parser-plugin response-role
    revision root-path runner safetensors-load-strategy safetensors-prefetch-block-size scheduler-cls
    scheduling-policy show-hidden-metrics-for-version sparse-indexer-topk-backend spec-method spec-model
    speculative-config ssl-ca-certs ssl-certfile ssl-ciphers ssl-keyfile structured-outputs-config tokenizer
    tokenizer-mode tokenizer-revision tool-call-parser tool-parser-plugin tool-server tool-strict-level uds
    uvicorn-log-level video-pruning-method video-pruning-rate watermark-config weight-transfer-config worker-cls
    worker-extension-cls
""".split()

#: Short forms and what they stand for.
SHORT = {
    "ac": "attention-config",
    "asc": "api-server-count",
    "cc": "compilation-config",
    "dc": "diffusion-config",
    "dcp": "decode-context-parallel-size",
    "dp": "data-parallel-size",
    "dpa": "data-parallel-address",
    "dpb": "data-parallel-backend",
    "dpe": "data-parallel-external-lb",
    "dph": "data-parallel-hybrid-lb",
    "dpl": "data-parallel-size-local",
    "dpm": "data-parallel-multi-port-external-lb",
    "dpn": "data-parallel-rank",
    "dpp": "data-parallel-rpc-port",
    "dpr": "data-parallel-start-rank",
    "ep": "enable-expert-parallel",
    "n": "nnodes",
    "pcp": "prefill-context-parallel-size",
    "pp": "pipeline-parallel-size",
    "q": "quantization",
    "r": "node-rank",
    "sc": "speculative-config",
    "tp": "tensor-parallel-size",
}
