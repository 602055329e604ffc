# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks of the double that really join, over the loopback interface, and what their deaths do."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

Start = Callable[..., Any]
RANK_1 = "127.0.0.2"


@pytest.fixture
def pair(serve: Start, port: Callable[[], int]) -> Callable[..., tuple[Any, Any]]:
    """Return a function that starts two mp ranks, workers first."""

    def start(*arguments: str, **environment: str) -> tuple[Any, Any]:
        common = ["--nnodes", "2", "--master-addr", "127.0.0.1", "--master-port", str(port())]
        common += ["--tensor-parallel-size", "2", *arguments]
        worker = serve(*common, "--node-rank", "1", "--headless", **environment)
        return serve(*common, "--node-rank", "0", **environment), worker

    return start


def test_two_ranks_serve_as_one(pair: Start) -> None:
    head, worker = pair()
    head.wait_ready()
    answer = head.chat(max_tokens=5).json()
    assert answer["usage"]["completion_tokens"] == 5
    assert "-tp2-" in answer["system_fingerprint"]
    assert "world_size=2 rank=1" in worker.log()
    worker.process.send_signal(signal.SIGTERM)
    assert worker.wait_exit() == 0


def test_rank_1_killed_while_idle(pair: Start) -> None:
    head, worker = pair()
    head.wait_ready()
    worker.kill()
    assert head.get("/health").status == 200
    assert head.chat().status == 500
    assert head.wait_exit() == 0


def test_rank_1_killed_during_a_request(pair: Start) -> None:
    head, worker = pair(DOUBLE_TOKENS_PER_SECOND="20", DOUBLE_EXIT_SECONDS="1")
    head.wait_ready()
    answers: list[Any] = []
    client = threading.Thread(target=lambda: answers.append(head.chat(stream=True, max_tokens=900)))
    client.start()
    head.wait_log('POST /v1/chat/completions HTTP/1.1" 200')
    worker.kill()
    client.join()
    events = answers[0].events()
    assert events[-2]["error"]["code"] == 500
    assert events[-1] == "[DONE]"
    assert head.get("/health").status == 503
    assert head.wait_exit() == 0


def test_only_the_worker_of_rank_1_dies(pair: Start) -> None:
    head, worker = pair()
    head.wait_ready()
    worker.fault("kill-worker", seconds=0.1)
    assert worker.wait_exit() == 0
    assert head.get("/health").status == 200
    assert head.chat().status == 500
    assert head.wait_exit() == 0


def test_rank_1_stops_answering_for_good(pair: Start) -> None:
    head, worker = pair(DOUBLE_STALL_SECONDS="0.3")
    head.wait_ready()
    worker.process.send_signal(signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        head.chat(timeout=1.5)
    worker.process.send_signal(signal.SIGCONT)
    assert head.get("/health").status == 200
    with pytest.raises(TimeoutError):
        head.chat(timeout=0.5)


def test_the_distributed_timeout_ends_a_hang(pair: Start) -> None:
    head, worker = pair("--distributed-timeout-seconds", "1")
    head.wait_ready()
    worker.process.send_signal(signal.SIGSTOP)
    assert head.chat().status == 500
    assert "Timed out waiting 1s" in head.log()
    assert head.wait_exit() == 0
    worker.process.send_signal(signal.SIGCONT)
    assert worker.process.poll() is None


def test_rank_1_lingers_when_rank_0_is_gone(pair: Start, until: Start) -> None:
    head, worker = pair(DOUBLE_LINGER_SECONDS="600")
    head.wait_ready()
    head.kill()
    # It still answers on its control port, and says nothing of the loss.
    worker.fault("no-usage")
    worker.process.send_signal(signal.SIGTERM)
    worker.fault("no-usage")
    assert worker.process.poll() is None
    assert "ERROR" not in worker.log()


def test_rank_1_restarted_alone_breaks_the_next_request(pair: Start, serve: Start) -> None:
    head, worker = pair()
    head.wait_ready()
    worker.kill()
    flags = worker.process.args[worker.process.args.index("serve") + 2 :]
    again = serve(*flags)
    again.wait_log("world_size=2 rank=1")
    assert "Starting to load" not in again.log()
    assert again.process.poll() is None
    assert head.chat().status == 500
    assert head.wait_exit() == 0


def test_ranks_of_another_world_are_refused(serve: Start, port: Callable[[], int]) -> None:
    master = ["--master-addr", "127.0.0.1", "--master-port", str(port())]
    head = serve(*master, "--nnodes", "2", "--tensor-parallel-size", "2", "--node-rank", "0")
    stranger = serve(*master, "--nnodes", "3", "--tensor-parallel-size", "3", "--node-rank", "1", "--headless")
    assert stranger.wait_exit() == 1
    assert "nnodes is 3 on rank 1 and 2 on rank 0" in stranger.log()
    assert head.process.poll() is None


def test_a_host_has_one_gpu(serve: Start) -> None:
    alone = serve("--tensor-parallel-size", "2")
    assert alone.wait_exit() == 1
    assert "World size (2) is larger than the number of available GPUs (1)" in alone.log()


def test_rank_0_waits_and_gives_up_after_the_distributed_timeout(serve: Start, port: Callable[[], int]) -> None:
    master = ["--master-addr", "127.0.0.1", "--master-port", str(port()), "--nnodes", "2"]
    head = serve(*master, "--tensor-parallel-size", "2", "--distributed-timeout-seconds", "1")
    assert head.wait_exit() == 1
    assert "Timed out after 1 seconds waiting for clients" in head.log()


@pytest.mark.parametrize("timeout", [[], ["--distributed-timeout-seconds", "1"]], ids=["no such name", "nobody there"])
def test_rank_1_with_a_wrong_master_address(serve: Start, port: Callable[[], int], timeout: list[str]) -> None:
    address = "127.0.0.1" if timeout else "no-such-host.invalid"
    flags = ["--nnodes", "2", "--tensor-parallel-size", "2", "--node-rank", "1", "--headless", *timeout]
    worker = serve("--master-addr", address, "--master-port", str(port()), *flags)
    assert worker.wait_exit() == 1
    assert "The client socket has failed to connect" in worker.log()


@pytest.mark.parametrize("by_fault", [False, True])
def test_a_taken_master_port_is_logged_and_waited_out(serve: Start, by_fault: bool) -> None:
    other = serve().wait_ready()
    flags = ["--master-addr", "127.0.0.1", "--master-port", str(other.port)]
    environment = {"DOUBLE_FAULTS": json.dumps({"master-port-taken": {}})} if by_fault else {}
    head = serve(*flags, "--nnodes", "2", "--tensor-parallel-size", "2", **environment)
    head.wait_log("EADDRINUSE")
    assert head.process.poll() is None


class TestRay:
    """`ray start` on two nodes and an engine over them."""

    @pytest.fixture
    def cluster(self, launch: Start, port: Callable[[], int], tmp_path: Any) -> tuple[str, Any, Any]:
        """Return the head's address and the two nodes."""
        address = f"127.0.0.1:{port()}"
        head_flags = ["--node-ip-address", "127.0.0.1", "--port", address.rpartition(":")[2]]
        common = ["--num-gpus", "1", "--block"]
        head = launch("ray", "start", "--head", *head_flags, *common, RAY_TMPDIR=str(tmp_path / "head"))
        head.wait_log("Ray runtime started")
        node_flags = ["--address", address, "--node-ip-address", RANK_1]
        node = launch("ray", "start", *node_flags, *common, RAY_TMPDIR=str(tmp_path / "node"))
        node.wait_log("Ray runtime started")
        return address, head, node

    @pytest.fixture
    def engine(self, cluster: tuple[str, Any, Any], serve: Start) -> Any:
        """Return an engine over the cluster."""
        flags = ["--tensor-parallel-size", "2", "--distributed-executor-backend", "ray"]
        return serve(*flags, RAY_ADDRESS=cluster[0]).wait_ready()

    def test_status_counts_nodes_and_gpus(self, cluster: tuple[str, Any, Any], launch: Start) -> None:
        status = launch("ray", "status", RAY_ADDRESS=cluster[0])
        assert status.wait_exit() == 0
        assert status.log().count("1 node_") == 2
        assert "0.0/2.0 GPU" in status.log()

    def test_serves_and_ends_when_a_node_dies(self, cluster: tuple[str, Any, Any], engine: Any) -> None:
        answer = engine.chat().json()
        assert "-tp2-" in answer["system_fingerprint"]
        cluster[2].kill()
        engine.wait_log("RayWorkerProc rank=[1] died")
        assert engine.wait_exit() == 0

    def test_waits_for_a_second_gpu(self, cluster: tuple[str, Any, Any], serve: Start) -> None:
        flags = ["--tensor-parallel-size", "3", "--distributed-executor-backend", "ray"]
        waiting = serve(*flags, RAY_ADDRESS=cluster[0])
        waiting.wait_log("Waiting for creating a placement group of 3 GPUs; the cluster has 2")

    def test_no_cluster(self, serve: Start, tmp_path: Any) -> None:
        flags = ["--tensor-parallel-size", "2", "--distributed-executor-backend", "ray"]
        alone = serve(*flags, RAY_TMPDIR=str(tmp_path))
        assert alone.wait_exit() == 1
        assert "Could not find any running Ray instance" in alone.log()

    def test_start_in_the_background_and_stop(self, launch: Start, port: Callable[[], int], tmp_path: Any) -> None:
        folder = {"RAY_TMPDIR": str(tmp_path), "RAY_OVERRIDE_RESOURCES": '{"GPU": 1}'}
        start = launch("ray", "start", "--head", "--node-ip-address=127.0.0.1", f"--port={port()}", **folder)
        assert start.wait_exit() == 0
        status = launch("ray", "status", **folder)
        assert status.wait_exit() == 0
        assert "0.0/1.0 GPU" in status.log()
        stop = launch("ray", "stop", **folder)
        assert stop.wait_exit() == 0
        assert "Stopped all 1 Ray processes." in stop.log()
        assert launch("ray", "status", **folder).wait_exit() == 1
