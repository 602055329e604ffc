# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what an engine's log says to the cause and the remedy. Pure.

The table is in order: what comes first explains more of what comes later. ``docs/troubleshooting-engine.md`` shows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.engine_log import texts_of

FATAL = "fatal"
WARNING = "warning"


@dataclass(frozen=True)
class Symptom:
    """One thing that can be wrong.

    :ivar patterns: any of them in a line of the log is the symptom; with none, only an exit code or an OOM kill is
    :ivar cause: a sentence without its full stop
    :ivar remedy: what to do, an imperative sentence without its full stop
    :ivar level: ``fatal``, or ``warning`` for what an engine can live with
    :ivar exit_codes: exit codes of the container that mean the same
    """

    id: str
    patterns: tuple[re.Pattern[str], ...]
    cause: str
    remedy: str
    level: str = FATAL
    exit_codes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """A symptom that was seen; ``line`` is where, empty when an exit code told it."""

    id: str
    cause: str
    remedy: str
    level: str
    line: str


def _symptom(
    name: str, patterns: Sequence[str], cause: str, remedy: str, level: str = FATAL, exit_codes: Sequence[int] = ()
) -> Symptom:
    return Symptom(name, tuple(map(re.compile, patterns)), cause, remedy, level, tuple(exit_codes))


OOM_KILLED = "oom-killed"
# They mean something only where RDMA was asked for.
ROCE_ONLY = ("ib-missing", "nccl-sockets")

SYMPTOMS: tuple[Symptom, ...] = (
    # The container and its image.
    _symptom(
        "exec-format",
        [r"(?i)exec format error"],
        "the image is for another processor architecture; a Spark needs arm64 (aarch64)",
        "Set serving_image to a tag that has arm64",
    ),
    _symptom(
        "no-nvidia-runtime",
        [r"could not select device driver", r"unknown or invalid runtime name: nvidia"],
        "Docker does not know the NVIDIA runtime: the container toolkit is missing, Docker was not restarted after it"
        " was set up, or Docker is the snap",
        "Run `sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker`",
    ),
    _symptom(
        "cdi-device",
        [r"unresolvable CDI devices", r"failed to inject CDI devices"],
        "the CDI description of the GPU is missing or older than the driver",
        "Run `sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml` and start again",
    ),
    _symptom(
        "driver-mismatch",
        [r"Driver/library version mismatch"],
        "the NVIDIA driver was upgraded and the old kernel module is still loaded",
        "Reboot the host",
    ),
    _symptom(
        "gpu-lost",
        [r"Failed to initialize NVML: Unknown Error", r"NVML: Unknown Error"],
        "the container has lost its GPU, as happens after `systemctl daemon-reload`; the host still has it",
        "Recreate the container: run the deployment again",
    ),
    _symptom(
        "cuda-forward-compat",
        [r"forward compatibility was attempted on non supported HW", r"cudaErrorCompatNotSupportedOnDevice"],
        "the image's CUDA is newer than the host's driver (CUDA error 804)",
        "Update the driver of DGX OS, or set serving_image to one of the driver's CUDA version",
    ),
    _symptom(
        "cuda-driver-old",
        [
            r"CUDA driver version is insufficient for CUDA runtime version",
            r"NVIDIA driver on your system is too old",
            r"nvidia-container-cli: requirement error: unsatisfied condition: cuda",
        ],
        "the host's driver is older than the image needs",
        "Update the driver of DGX OS, or set serving_image to an older one",
    ),
    _symptom(
        "kernel-image",
        [r"no kernel image is available for execution on the device"],
        "the image was not built for the GPU of a Spark (compute capability 12.1)",
        "Set serving_image to one for CUDA 13 on aarch64 that names DGX Spark, GB10 or sm_121",
    ),
    _symptom(
        "ptxas-arch",
        [
            r"ptxas(?:-blackwell)? fatal\s*:\s*Value 'sm_\w+' is not defined",
            r"(?i)unsupported gpu architecture '(?:compute|sm)_\w+'",
            r"'sm_12\w+' is not a recognized processor",
        ],
        "the compiler in the image (Triton's ptxas or nvcc) is too old for sm_121, the GPU of a Spark",
        "Set TRITON_PTXAS_PATH: /usr/local/cuda/bin/ptxas in serving_env, or take an image for CUDA 13",
    ),
    _symptom(
        "cuda-no-device",
        [
            r"No CUDA GPUs are available",
            r"no CUDA-capable device is detected",
            r"Error 802: system not yet initialized",
            r"Failed to infer device type",
            r"Found no NVIDIA driver on your system",
            r"libcuda\.so\.1: cannot open shared object file",
        ],
        "the engine sees no GPU in its container",
        "Check `nvidia-smi -L` on the host; if it lists the GPU, restart docker and run the deployment again",
    ),
    # Command line and program.
    _symptom(
        "entrypoint-swallowed",
        [
            r"exec: \"(?:serve|-{1,2}[\w-]+)\":.*(?:not found|no such file)",
            r"(?:ba)?sh: (?:line )?\d*:? ?(?:serve|--[\w-]+): (?:command )?not found",
            r"unrecognized arguments: (?:serve|vllm|python3|/usr/bin)\b",
            r"invalid choice: '(?:vllm|python3|/[^']*)'",
        ],
        "the image's entrypoint swallowed the engine's command line",
        "Set serving_image to an image of the engine, or one whose `docker run IMAGE vllm --version` answers",
    ),
    _symptom(
        "unknown-flag",
        [
            r"error: unrecognized arguments:",
            r"error: argument \S+: invalid",
            r"error: ambiguous option:",
            r"invalid choice: ",
            r"error: argument \S+: expected",
            r"(?i)No such option:",
        ],
        "this version of the engine does not know a flag or its value",
        "Mend serving_engine_args, or take an image whose engine knows it",
    ),
    _symptom(
        "ray-missing",
        [
            r"No module named 'ray'",
            r"Failed to import Ray",
            r"Ray is not installed",
            r"exec: \"ray\": executable file not found",
        ],
        "the backend is ray and the image is without it",
        "Set serving_backend to mp, or serving_image to an image with ray",
    ),
    _symptom(
        "engine-missing",
        [r"No module named '?(?:vllm|sglang)\b", r"exec: \"(?:vllm|sglang)\": executable file not found"],
        "the image does not hold the engine",
        "Set serving_image to an image of serving_engine",
    ),
    # Memory.
    _symptom(
        "kv-cache-none",
        [r"No available memory for the cache blocks", r"Available KV cache memory: -"],
        "the weights leave no memory for the KV cache",
        "Raise serving_gpu_memory_utilization (up to 0.85), use more hosts, or a smaller or more quantised model",
    ),
    _symptom(
        "context-too-long",
        [
            r"larger than the available KV cache memory",
            r"is larger than the maximum number of tokens that can be stored in KV cache",
        ],
        "one request of the full context length needs more KV cache than there is",
        "Set max-model-len in serving_engine_args to the length that the line names, or raise"
        " serving_gpu_memory_utilization",
    ),
    _symptom(
        "start-memory",
        [r"is less than desired GPU memory utilization"],
        "less memory is free than the engine plans with; vLLM counts page cache as used",
        "Drop the page cache (`sync && echo 1 | sudo tee /proc/sys/vm/drop_caches`), end what else uses memory, or"
        " lower serving_gpu_memory_utilization",
    ),
    _symptom(
        "memory-profiling",
        [r"Error in memory profiling\. Initial free memory"],
        "another process gave back memory while the engine measured it",
        "Run the deployment again once nothing else starts or stops on the host",
    ),
    _symptom(
        "sglang-memory",
        [r"Not enough memory\. Please try to increase --mem-fraction-static"],
        "the weights leave no memory for SGLang's KV cache",
        "Raise serving_gpu_memory_utilization (up to 0.85), use more hosts, or a smaller model",
    ),
    _symptom(
        "ray-memory-monitor",
        [
            r"killed due to memory pressure \(OOM\)",
            r"killed due to the node running low on memory",
            r"exceeds the memory usage threshold of",
        ],
        "Ray's memory monitor killed a worker while weights went through the page cache",
        "Set RAY_memory_monitor_refresh_ms=0 for `ray start` on every host; an image that ignores it needs a newer ray",
    ),
    _symptom(
        "cuda-oom",
        [
            r"CUDA out of memory",
            r"torch\.(?:cuda\.)?OutOfMemoryError",
            r"CUDA error: out of memory",
            r"cudaErrorMemoryAllocation",
            r"CUBLAS_STATUS_ALLOC_FAILED",
        ],
        "the GPU's share of the unified memory is used up",
        "Lower serving_gpu_memory_utilization, max-num-seqs or max-model-len, and end what else uses memory",
    ),
    _symptom(
        OOM_KILLED,
        [r"(?i)out of memory: killed process", r"(?i)oom-kill:"],
        "the host had no memory left and the kernel killed the engine",
        "Lower serving_gpu_memory_utilization, or max-num-seqs and max-model-len in serving_engine_args; keep swap off",
    ),
    _symptom(
        "host-oom",
        [
            r"^(?:.*\s)?MemoryError\b",
            r"DefaultCPUAllocator: (?:can't|not enough) (?:allocate )?memory",
            r"\[Errno 12\] Cannot allocate memory",
        ],
        "the host had no memory left for the engine",
        "Lower serving_gpu_memory_utilization and end what else uses memory on the host",
    ),
    _symptom(
        "shm-too-small",
        [
            r"insufficient shared memory \(shm\)",
            r"out of shared memory\. Please try to raise your shared memory limit",
            r"(?i)\bbus error\b",
            r"(?:/dev/shm|shared memory).*No space left on device",
            r"NCCL WARN Error: failed to extend /dev/shm",
        ],
        "the shared memory of the container is too small, or full of files of engines that were killed",
        "Look at `df -h /dev/shm` on the host and remove what old engines left there; containers of this collection use"
        " the host's shared memory",
        exit_codes=[135],
    ),
    # Kernels and compilers.
    _symptom(
        "misaligned",
        [r"(?i)misaligned address"],
        "a CUDA kernel read a misaligned address, as NVFP4 and Marlin kernels of some versions do on sm_121",
        "Take a newer image, or an FP8 or AWQ variant of the model",
    ),
    _symptom(
        "illegal-access",
        [r"an illegal memory access was encountered", r"cudaErrorIllegalAddress"],
        "a CUDA kernel read memory that is not its own (CUDA error 700)",
        "Take a newer image; set enforce-eager: true in serving_engine_args to see whether CUDA graphs are to blame",
    ),
    _symptom(
        "illegal-instruction",
        [r"(?i)illegal instruction"],
        "the program uses instructions that this GPU or processor does not have",
        "Take an image for aarch64 and sm_121",
        exit_codes=[132],
    ),
    _symptom(
        "nvcc-missing",
        [r"Could not find nvcc", r"nvcc: (?:command )?not found", r"CUDA_HOME environment variable is not set"],
        "FlashInfer has to compile a kernel and the image has no nvcc",
        "Take an image with the CUDA toolkit, or set VLLM_ATTENTION_BACKEND to another one than FLASHINFER in"
        " serving_env",
    ),
    _symptom(
        "cxx-missing",
        [r"InvalidCxxCompiler", r"No working C\+\+ compiler found"],
        "torch.compile needs a C++ compiler and the image has none; it shows at the first generation only",
        "Set TORCHDYNAMO_DISABLE: '1' in serving_env and enforce-eager: true in serving_engine_args, or take an image"
        " with g++",
    ),
    _symptom(
        "cc-missing",
        [r"Failed to find C compiler", r"Python\.h: No such file or directory"],
        "Triton has to compile and the image has no C compiler or no Python headers",
        "Take an image with gcc and python3-dev",
    ),
    _symptom(
        "jit-build",
        [r"ninja: build stopped: subcommand failed", r"Error building extension '"],
        "a kernel that is compiled at the start did not build",
        "Read the compiler's lines above it; a newer image has the kernel built in",
    ),
    # The model.
    _symptom(
        "gated-denied",
        [
            r"403 Client Error",
            r"Access to model \S+ is restricted and you are not in the authorized list",
            r"(?i)your request to access .* (?:is awaiting|has been rejected)",
        ],
        "the Hugging Face token is known and not allowed for this model",
        "Accept the model's terms on its page with the account of the token, or put the complete model in the cache",
    ),
    _symptom(
        "gated-no-token",
        [
            r"401 Client Error",
            r"Access to model \S+ is restricted\. You must (?:have access to it and )?be authenticated",
            r"You are trying to access a gated repo",
            r"Invalid (?:credentials|user token)",
        ],
        "the model is gated and the container has no valid Hugging Face token",
        "Download the complete model on the host with a token; the engine then starts offline and needs none",
    ),
    _symptom(
        "offline-miss",
        [
            r"outgoing traffic has been disabled",
            r"LocalEntryNotFoundError",
            r"OfflineModeIsEnabled",
            r"Cannot reach \S+: offline mode is enabled",
            r"couldn't find (?:them|it) in the cached files",
            r"huggingface\.co.*(?:Failed to resolve|Max retries)",
            r"(?:Failed to resolve|Max retries).*huggingface\.co",
        ],
        "the engine is offline and a file of the model is not in the cache",
        "Download the model completely into model_cache_dir on this host, its tokenizer and configuration too",
    ),
    _symptom(
        "model-links",
        [
            r"No such file or directory: '[^']*/(?:snapshots|blobs)/",
            r"No such file or directory: '[^']*\.safetensors'",
            r"Cannot find any model weights with",
            r"No such file or directory: \"[^\"]*\.safetensors\"",
        ],
        "weight files of the model are not there, or are links that lead nowhere inside the container",
        "Copy the whole models--ORG--NAME folder with its blobs, or download the model anew",
    ),
    _symptom(
        "safetensors-incomplete",
        [
            r"SafetensorError",
            r"Error while deserializing header",
            r"MetadataIncompleteBuffer",
            r"(?:header|Header)TooLarge",
            r"incomplete metadata, file not fully covered",
        ],
        "a weight file is cut off: a download or a copy that did not end",
        "Compare the sizes with the model's page and download or copy the file again, on every host of the replica",
    ),
    _symptom(
        "preprocessor-missing",
        [
            r"does not appear to have a file named \w*processor_config\.json",
            r"No such file or directory: '[^']*processor_config\.json'",
            r"Can't load (?:image processor|feature extractor|processor) for",
            r"Unrecognized (?:image processor|processing class) in",
        ],
        "the model has a vision part, and its preprocessor_config.json or processor_config.json is not there",
        "Copy it from the model that this one was made from",
    ),
    _symptom(
        "tokenizer-missing",
        [
            r"Can't load tokenizer for",
            r"(?i)couldn't instantiate the backend tokenizer",
            r"Tokenizer class \S+ does not exist",
            r"(?:tokenizer\.json|tokenizer_config\.json|tokenizer\.model|vocab\.json)'?:? .*(?:not found|No such file)",
            r"No such file or directory: '[^']*(?:tokenizer|vocab)[^']*'",
        ],
        "the tokenizer's files are missing or need another library",
        "Copy tokenizer.json and tokenizer_config.json from the model's origin, or set tokenizer in"
        " serving_engine_args",
    ),
    _symptom(
        "tokenizers-version",
        [
            r"data did not match any variant of untagged enum",
            r"tokenizers[<>=]=?\S+ is required for a normal functioning",
        ],
        "the tokenizers library in the image is too old for this model",
        "Take a newer image",
    ),
    _symptom(
        "transformers-version",
        [
            r"Transformers does not recognize this architecture",
            r"The checkpoint you are trying to load has model type",
            r"transformers[<>=]=?\S+ is required for a normal functioning",
            r"cannot import name '\w+' from 'transformers",
        ],
        "the transformers library in the image is too old for this model",
        "Take a newer image",
    ),
    _symptom(
        "unknown-architecture",
        [
            r"Model architectures \[.*\] are not supported",
            r"Model architectures \[.*\] failed to be inspected",
            r"has no (?:SGLang|vLLM) implementation",
            r"Unsupported architectures?:",
            r"Should have a `model_type` key in its config\.json",
        ],
        "this version of the engine does not know the model's architecture",
        "Take a newer image, or the other engine",
    ),
    _symptom(
        "remote-code",
        [
            r"requires you to execute the configuration file",
            r"contains custom code which must be executed",
            r"consider setting `trust_remote_code=True`",
        ],
        "the model brings its own Python code",
        "Read that code, and if you trust it set trust-remote-code: true in serving_engine_args",
    ),
    _symptom(
        "model-path",
        [
            r"is not a valid model identifier",
            r"Repo id must be in the form",
            r"is not a local folder",
            r"Invalid repository ID or local directory specified",
            r"404 Client Error",
        ],
        "there is no such model, neither as a folder in the container nor as an id",
        "Check serving_model, and that the model lies in model_cache_dir on this host",
    ),
    _symptom(
        "cache-permission",
        [
            r"PermissionError: \[Errno 13\] Permission denied",
            r"Permission denied: '[^']*(?:\.cache|huggingface|/hub/|\.safetensors)",
        ],
        "a file of the model or of the cache cannot be read, often one that a container of root left there",
        "Look at its owner and mode with `ls -ln`, and give it to the cache's user with `sudo chown -R`",
    ),
    _symptom(
        "disk-full",
        [r"(?i)^(?!.*(?:/dev/shm|shared memory)).*No space left on device", r"(?i)disk quota exceeded"],
        "the disk is full",
        "Free space on the host: `df -h`, `docker system df`, old models in the cache",
    ),
    _symptom(
        "chat-template",
        [
            r"default chat template is no longer allowed",
            r"ChatTemplateResolutionError",
            r"the supplied chat template path doesn't exist",
            r"(?i)does not (?:define|have) a chat template",
        ],
        "the tokenizer has no chat template, so chats are refused",
        "Set chat-template in serving_engine_args to a template's file in the model's folder",
        WARNING,
    ),
    _symptom(
        "quantisation",
        [
            r"Unknown quantization method",
            r"(?i)quantization (?:method|scheme) .*is not supported",
            r"quantization is currently not supported in",
            r"does not match the quantization method specified",
            r"Weight input_size_per_partition = \d+ is not divisible",
        ],
        "the engine cannot use this quantisation on this GPU, or serving_engine_args name another than the model's",
        "Leave quantization out of serving_engine_args, or take a variant of the model that the engine supports",
    ),
    _symptom(
        "tp-divides",
        [
            r"must be divisible by tensor parallel size",
            r"is not divisible by (?:tp_size|the number of partitions|tensor parallel)",
            r"weight output_size_per_partition = \d+ is not divisible",
            r"\d+ is not divisible by \d+$",
        ],
        "serving_tensor_parallel_size does not divide the model's heads or layers' sizes",
        "Set serving_tensor_parallel_size to a divisor, such as 2 or 4, or use serving_pipeline_parallel_size",
    ),
    _symptom(
        "max-model-len",
        [r"is greater than the derived max_model_len"],
        "max-model-len is above what the model was made for",
        "Lower max-model-len in serving_engine_args to the length that the line names",
    ),
    _symptom(
        "wrong-name",
        [r"The model `[^`]*` does not exist"],
        "a client asks for a name under which this engine does not serve",
        "Ask for a name that /v1/models lists, or set serving_served_model_name",
        WARNING,
    ),
    # Ranks that do not find each other.
    _symptom(
        "api-port-taken",
        [r"error while attempting to bind on address", r"\[Errno 98\]"],
        "the port of the API is taken on this host",
        "See who has it with `sudo ss -ltnp`, stop that, or set serving_port to a free one",
    ),
    _symptom(
        "master-port-taken",
        [r"EADDRINUSE", r"server socket has failed to listen", r"ZMQError: Address already in use"],
        "the port at which the ranks meet is taken on rank 0's host, often by an engine of an earlier run",
        "See who has it with `sudo ss -ltnp`, stop that, or set serving_master_port to a free one",
    ),
    _symptom(
        "not-own-address",
        [r"(?i)cannot assign requested address", r"EADDRNOTAVAIL"],
        "a rank was given an address that its host does not have",
        "Give each host its own address in fabric_links, and VLLM_HOST_IP to no group of hosts",
    ),
    _symptom(
        "connect-loopback",
        [
            r"(?i)connect(?:ing|ion)?\b.*\[?127\.0\.\d\.1\]?[:\],\s].*(?:refused|timed out|failed)",
            r"(?i)(?:refused|timed out|failed).*remote=\[?(?:localhost\]?:|127\.0\.\d\.1)",
            r"init_method=tcp://(?:127\.0\.\d\.1|localhost):.*(?:refused|timed out)",
        ],
        "a rank looks for another one on loopback: a host name resolves to 127.*",
        "Give each host its address in fabric_links, and remove 127.0.1.1 NAME from /etc/hosts",
    ),
    _symptom(
        "interface-missing",
        [
            r"(?i)unable to find (?:address|interface) for: ?\w*",
            r"no socket interface found",
            r"with family \d+ is neither AF_INET",
            r"(?i)unable to resolve.*interface",
            r"(?:GLOO|NCCL|TP)_SOCKET_IFNAME\b.*(?:not found|does not exist|no such)",
            r"network device '\S+' is not available",
        ],
        "the network interface that this rank was told to use is not on its host or has no address",
        "Set fabric_links for this host: names differ between hosts and cages (`ip -brief address`)",
    ),
    _symptom(
        "wrong-master",
        [
            r"(?i)no route to host",
            r"(?i)network is unreachable",
            r"DistNetworkError: .*(?:timed out|failed)",
            r"client socket has timed out after \d+",
            r"^(?!.*huggingface).*Name or service not known",
            r"Timed out after \d+ seconds waiting for clients",
        ],
        "the ranks did not meet: the address of rank 0 is wrong, its host is not reachable over the fabric, or not all"
        " ranks came",
        "Ping rank 0's address in fabric_links from this host, and look at the logs of the other ranks",
    ),
    _symptom(
        "ray-node-address",
        [
            r"Current node has no (?:GPU|CPU|\w+) available",
            r"Can't find a node_ip_address\.json file",
            r"node IP address of the current node .*does not match",
            r"Every node should have a unique IP address",
        ],
        "the address that a node has in Ray is not the one that the engine uses (VLLM_HOST_IP), or its GPU is taken",
        "Let VLLM_HOST_IP and --node-ip-address be the host's fabric address, and stop other Ray clusters there",
    ),
    _symptom(
        "ray-nodes-missing",
        [
            r"number of required \w+ exceeds the total number of available",
            r"Cannot provide a placement group",
            r"No available node types can fulfill resource request",
        ],
        "the Ray cluster has fewer nodes with a free GPU than the replica has ranks",
        "Look at the logs of the other ranks: their `ray start` did not reach the head",
    ),
    _symptom(
        "ray-unreachable",
        [
            r"Failed to connect to GCS",
            r"Unable to connect to GCS",
            r"Could not find any running Ray instance",
            r"Failed to get cluster ID from GCS server",
            r"(?i)invalid auth(?:entication)? token",
        ],
        "this rank does not reach the head of the Ray cluster",
        "Ping rank 0's address in fabric_links, check serving_ray_port, and set RAY_AUTH_MODE alike on every host",
    ),
    _symptom(
        "ray-worker-died",
        [
            r"RayWorkerProc rank=\S+ died",
            r"ActorDiedError",
            r"(?:The actor|A worker) died (?:unexpectedly|because)",
            r"WorkerCrashedError",
            r"raylet.*(?:node_ip|Node).*(?:dead|died)",
        ],
        "a rank in the Ray cluster died",
        "Read the log of that rank on its host; the first error there is the cause",
    ),
    _symptom(
        "semlock",
        [r"SemLock\._rebuild", r"(?:FileNotFoundError|_multiprocessing).*SemLock"],
        "the semaphores of a rank were deleted: systemd-logind does that when the last session of a user ends",
        "Run `sudo loginctl enable-linger USER`, or set RemoveIPC=no in logind.conf",
    ),
    _symptom(
        "memlock",
        [
            r"ibv_reg_mr\w* failed.*(?:Cannot allocate memory|ENOMEM|error 12)",
            r"ibv_(?:create_\w+|alloc_pd|reg_\w+).*Cannot allocate memory",
        ],
        "memory cannot be registered for RDMA: the memlock limit is low, or the kernel (7.0) breaks registration",
        "Check `ulimit -l` in the container (unlimited is right); on kernel 7.0 boot with kho=off",
    ),
    _symptom(
        "gid-index",
        [r"ibv_modify_qp failed", r"(?i)invalid gid", r"NCCL WARN .*GID.*(?:invalid|fail)"],
        "RDMA does not connect: the RoCE GID index is that of another address, or the link is down",
        "Leave fabric_gid_index unset, and check both ends of the link with `ibv_devinfo`",
    ),
    _symptom(
        "ib-missing",
        [r"NET/IB : No device found", r"Failed to open libibverbs"],
        "NCCL found no RDMA device in the container and uses sockets",
        "Check that /dev/infiniband is on the host, and give fabric_links their rdma_device",
        WARNING,
    ),
    _symptom(
        "nccl-sockets",
        [r"NCCL INFO Using network Socket"],
        "NCCL uses sockets, not RDMA",
        "For RoCE set rdma_device in fabric_links, and serving_transport: roce to make it an error",
        WARNING,
    ),
    _symptom(
        "gloo-mesh",
        [r"Gloo connectFullMesh failed"],
        "the ranks do not reach each other on the ports that Gloo chose",
        "Check fabric_links (the same network on all hosts) and that no firewall is between them",
    ),
    _symptom(
        "collective-timeout",
        [
            r"Watchdog caught collective operation timeout",
            r"Timed out waiting \d+m?s for (?:recv|send) operation",
            r"(?i)RPC call to \w+ timed out",
            r"NCCL communicator was aborted",
        ],
        "a rank waited for another one in vain: that one hangs, is gone, or the link is cut",
        "Read the other ranks' logs and check the link; the group has to start anew as a whole",
    ),
    _symptom(
        "peer-closed",
        [
            r"recvValue failed",
            r"Connection was likely closed",
            r"Connection closed by (?:remote )?peer",
            r"ncclRemoteError",
            r"remote process exited or there was a network error",
        ],
        "another rank went away; what this one says is only the consequence",
        "Read the logs of the other ranks: the first error there is the cause",
    ),
    _symptom(
        "nccl-internal",
        [r"ncclInternalError", r"ncclSystemError", r"unhandled (?:system|cuda) error", r"ncclInvalidUsage"],
        "NCCL failed; its own warning says why",
        "Set NCCL_DEBUG: WARN in serving_env, and read the lines with NCCL WARN",
    ),
    _symptom(
        "worker-died",
        [r"died unexpectedly(?! \(exit code: -9\))", r"died with exit code", r"[Ww]orker process .*(?:died|exited)"],
        "a process of the engine died without a word of its own",
        "Look for an OOM kill with `sudo dmesg | tail`, and read the log of every rank",
    ),
    _symptom(
        "killed",
        [r"died unexpectedly \(exit code: -9\)"],
        "the engine was killed from outside (SIGKILL): by `docker kill`, a stop that lasted too long, or the kernel for"
        " lack of memory",
        "Look with `sudo dmesg | grep -i oom`; if there is an OOM kill, lower serving_gpu_memory_utilization",
        exit_codes=[137],
    ),
    _symptom(
        "segfault",
        [r"(?i)segmentation fault"],
        "the engine crashed in native code",
        "Take a newer image; if it repeats, set enforce-eager: true in serving_engine_args",
        exit_codes=[139],
    ),
)


def diagnose(lines: Sequence[str], exit_code: int | None = None, oom_killed: bool = False) -> list[Diagnosis]:
    """Name what is wrong, what explains most first, each symptom once with the first line that shows it.

    :param lines: the container's log, oldest first
    :param exit_code: of the container; None while it runs
    :param oom_killed: whether Docker says that the kernel killed it for lack of memory
    """
    texts = texts_of(lines)
    found: list[Diagnosis] = []
    for symptom in SYMPTOMS:
        line = next((text for text in texts if any(pattern.search(text) for pattern in symptom.patterns)), None)
        by_code = exit_code is not None and exit_code in symptom.exit_codes
        if line is None and not by_code and not (oom_killed and symptom.id == OOM_KILLED):
            continue
        found.append(Diagnosis(symptom.id, symptom.cause, symptom.remedy, symptom.level, line or ""))
    names = {diagnosis.id for diagnosis in found}
    if OOM_KILLED in names:
        found = [diagnosis for diagnosis in found if diagnosis.id != "killed"]
    # What an engine can live with is no cause of its end.
    return sorted(found, key=lambda diagnosis: diagnosis.level == WARNING)
