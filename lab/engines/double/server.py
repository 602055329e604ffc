# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of one `vllm serve` process: its stages, its ports, its end."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Coroutine
from typing import Any

from . import VERSION
from .command_line import ServeOptions
from .control import Control
from .core import EngineCore, RankGroup
from .counts import Counts
from .faults import Faults
from .http_server import HttpServer, bound_socket
from .log import log, plain
from .metrics import Metrics
from .model_folder import context_length
from .openai_api import OpenAiApi
from .ranks import Alone, JoinError, follow, gather_ranks, join
from .ray_cluster import ClusterError, connect_workers, current_cluster
from .serve_parser import UsageError

DEFAULT_CONTROL_PORT = 18999
LOAD_STEPS = 4


def _number(name: str, default: float) -> float:
    try:
        return float(os.environ.get(name, default))
    except ValueError:
        raise UsageError(f"{name} is no number: {os.environ[name]!r}") from None


class Server:
    """One rank: rank 0 serves the API, a headless rank only takes part."""

    def __init__(self, options: ServeOptions, faults: Faults) -> None:
        """Read the times (seconds) and rates from the environment; raises UsageError."""
        self._options = options
        self._faults = faults
        self._counts = Counts()
        self._load_seconds = _number("DOUBLE_LOAD_SECONDS", 1.0)
        self._rate = _number("DOUBLE_TOKENS_PER_SECOND", 100.0)
        self._exit_seconds = _number("DOUBLE_EXIT_SECONDS", 4.0)
        self._linger_seconds = _number("DOUBLE_LINGER_SECONDS", 12.0)
        self._control_port = int(_number("DOUBLE_CONTROL_PORT", DEFAULT_CONTROL_PORT))
        self._keep_alive = _number("VLLM_HTTP_TIMEOUT_KEEP_ALIVE", 5.0)
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        #: Ends with the reason when Ray tells of a dead node; without Ray nobody tells.
        self._peer_death: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._head_gone = False
        self._tasks: list[asyncio.Task[None]] = []
        self._servers: list[asyncio.Server] = []

    async def run(self) -> int:
        """Live; returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal)
        await self._open_control()
        life = self._follow() if self._options.headless else self._lead()
        self._spawn(life)
        return await self._ended

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run something for as long as the process lives; its failure is the end of the process."""

        def finished(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and task.exception() is not None:
                log(f"{type(task.exception()).__name__}: {task.exception()}", level="ERROR")
                self._end(1)

        task = asyncio.ensure_future(coroutine)
        task.add_done_callback(finished)
        self._tasks.append(task)

    def _end(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)

    def _end_later(self, seconds: float, code: int) -> None:
        asyncio.get_running_loop().call_later(seconds, self._end, code)

    def _on_signal(self) -> None:
        ignoring = self._faults.get("ignore-sigterm")
        if ignoring:
            self._end_later(ignoring["seconds"], 0)
        elif self._head_gone:
            # As vLLM's workers do while they are stuck in a collective with nobody.
            self._end_later(self._linger_seconds, 0)
        else:
            log("Shutting down", "launcher.py:1")
            self._end(0)

    async def _open_control(self) -> None:
        if not self._control_port:
            return
        try:
            server = bound_socket("127.0.0.1", self._control_port)
        except OSError as error:
            log(f"no control port: 127.0.0.1:{self._control_port}: {error.strerror}", "control.py:1", "WARNING")
            return
        control = Control(self._faults, self._counts, self._on_fault)
        self._servers.append(await HttpServer(control.handle, access_log=False).start(server))

    def _on_fault(self) -> None:
        """Carry out faults that act at once when the control port sets them."""
        worker = self._faults.get("kill-worker")
        if worker and self._options.headless:
            for task in self._tasks:
                task.cancel()  # its connection to rank 0 ends with it
            self._end_later(worker["seconds"], 0)

    def _stage(self, stage: str) -> bool:
        """Say that a stage is reached; returns False when the process is to end there."""
        killed, ended = self._faults.get("oom-kill"), self._faults.get("exit")
        if killed and killed["stage"] == stage:
            os.kill(os.getpid(), signal.SIGKILL)
        if ended and ended["stage"] == stage:
            log(f"Engine core initialization failed at stage {stage}. See root cause above.", level="ERROR")
            self._end(ended["code"])
            return False
        return True

    def _on_request(self) -> None:
        self._stage("request")

    async def _load(self) -> bool:
        """Load weights, at the pace that was asked for."""
        if not self._stage("load"):
            return False
        log(f"Starting to load model {self._options.model}...", "gpu_model_runner.py:1", process="Worker")
        slow = self._faults.get("slow-load")
        seconds = slow["seconds"] if slow else self._load_seconds
        for step in range(LOAD_STEPS + 1):
            share = 100 * step // LOAD_STEPS
            plain(f"Loading safetensors checkpoint shards: {share:3d}% Completed | {step}/{LOAD_STEPS}")
            if step < LOAD_STEPS:
                await asyncio.sleep(seconds / LOAD_STEPS)
        log(f"Loading weights took {seconds:.2f} seconds", "default_loader.py:1", process="Worker")
        return True

    def _world(self) -> dict[str, object]:
        options = self._options
        return {
            "nnodes": options.nnodes,
            "tensor_parallel_size": options.tensor_parallel_size,
            "pipeline_parallel_size": options.pipeline_parallel_size,
            "model": os.path.basename(options.model),
        }

    async def _follow(self) -> None:
        """Be a rank without an API."""
        options = self._options
        if not self._stage("imports") or not self._fits() or not self._stage("distributed"):
            return
        self._log_world()
        try:
            reader, writer = await join(
                options.master_addr, options.master_port, self._world(), options.node_rank, options.distributed_timeout
            )
        except JoinError as error:
            log(str(error), "TCPStore.cpp:1", "ERROR")
            self._end(1)
            return
        try:
            if await self._load():
                await follow(reader, writer, options.distributed_timeout)
                self._head_gone = True
                # Nobody else will ever speak to this rank, and like vLLM's it does not notice.
                await asyncio.Event().wait()
        finally:
            writer.close()

    def _log_world(self) -> None:
        options = self._options
        log(
            f"world_size={options.world_size} rank={options.node_rank} local_rank=0 "
            f"distributed_init_method=tcp://{options.master_addr}:{options.master_port} backend=gloo",
            "parallel_state.py:1",
        )

    def _fits(self) -> bool:
        """Check that every rank has a GPU, of which a Spark has one; returns False when the process is to end."""
        options = self._options
        local = 1 if options.executor == "ray" else options.world_size // options.nnodes
        if local > 1:
            log(f"World size ({local}) is larger than the number of available GPUs (1) in this node.", level="ERROR")
            self._end(1)
        return local <= 1

    def _bind_api(self) -> socket.socket | None:
        """Hold the API's port, as vLLM does long before it listens on it."""
        options = self._options
        try:
            if self._faults.on("api-port-taken"):
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
            return bound_socket(options.host, options.port)
        except OSError as error:
            plain(f"OSError: [Errno {error.errno}] {error.strerror}")
            self._end(1)
            return None

    async def _join_group(self) -> RankGroup:
        """Wait for the other ranks; raises JoinError or ClusterError."""
        options = self._options
        if options.executor == "ray" and options.world_size > 1:
            address = current_cluster()
            if address is None:
                raise ClusterError("Could not find any running Ray instance. Please specify the one to connect to.")
            group, death = await connect_workers(address, options.world_size, options.distributed_timeout)
            self._peer_death = death
            return group
        if options.nnodes == 1:
            return Alone()
        self._log_world()
        if self._faults.on("master-port-taken"):
            log(f"The server socket on port {options.master_port} has failed: EADDRINUSE", "TCPStore.cpp:1", "ERROR")
            await asyncio.Event().wait()
        return await gather_ranks(options.master_addr, options.master_port, self._world(), options.distributed_timeout)

    async def _lead(self) -> None:
        """Be rank 0."""
        options = self._options
        log(f"version {VERSION} model {options.model}", "api_utils.py:1")
        limit = context_length(options.model)
        context = min(limit, options.max_model_len or limit)
        if not self._stage("imports") or not self._fits():
            return
        holder = self._bind_api()
        if holder is None or not self._stage("distributed"):
            return
        log(f"Initializing a V1 LLM engine (v{VERSION}) with config: model={options.model!r}", "core.py:1")
        try:
            group = await self._join_group()
        except (JoinError, ClusterError) as error:
            log(str(error), "core.py:1", "ERROR", "EngineCore")
            self._end(1)
            return
        if not await self._load():
            return
        metrics = Metrics(options.served_names[0])
        core = EngineCore(group, self._faults, metrics, options.max_num_seqs, self._rate)
        self._spawn(core.run())
        self._spawn(self._fall(core))
        if not self._stage("ready"):
            return
        api = OpenAiApi(options, context, core, self._faults, metrics, self._counts, self._on_request)
        self._servers.append(await HttpServer(api.handle, self._keep_alive).start(holder))
        log(f"Starting vLLM server on http://{options.host}:{holder.getsockname()[1]}", "entry.py:1")
        plain(f"INFO:     Started server process [{os.getpid()}]")
        plain("INFO:     Waiting for application startup.")
        plain("INFO:     Application startup complete.")

    async def _fall(self, core: EngineCore) -> None:
        """Watch the cluster, and end the process some seconds after the engine died - with code 0, as vLLM does."""
        dead = asyncio.ensure_future(core.dead.wait())
        await asyncio.wait({dead, self._peer_death}, return_when=asyncio.FIRST_COMPLETED)
        if self._peer_death.done():
            core.die(self._peer_death.result())
        log("AsyncLLM output_handler failed: EngineDeadError", "async_llm.py:1", "ERROR")
        self._end_later(self._exit_seconds, 0)
