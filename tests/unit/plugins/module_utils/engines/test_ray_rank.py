# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rank of a Ray cluster: its command lines, its verdict over nodes, and the program with a `ray` that records."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import ray_rank
from ansible_collections.dgxspark.serving.plugins.module_utils.engines.ray_rank import Rank, RankError

ADDRESSES = ("192.0.2.11", "192.0.2.12")
HEAD = Rank(0, ADDRESSES, 6379, ("vllm", "serve", "m"))
WORKER = Rank(1, ADDRESSES, 6379, ())

COMMON = "--num-gpus 1 --num-cpus 2 --object-store-memory 1073741824 --disable-usage-stats"

# Both write their command line into a file; `ray` fails where a test wants it.
RECORDER = """\
#!{python}
import json, os, sys
with open(os.environ["RECORD"], "a") as stream:
    stream.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:], os.environ.get("RAY_ADDRESS", "")]) + "\\n")
sys.exit(int(os.environ.get("RAY_CODE", "0")) if sys.argv[1] == "start" else 0)
"""
MODULE = """\
import json, os
calls = []
def init(address, **options):
    calls.append(address)
def nodes():
    lists = json.loads(os.environ["NODES"])
    calls.append("nodes")
    return lists[min(calls.count("nodes"), len(lists)) - 1]
def shutdown():
    assert calls[0] == "127.0.0.1:6379"
"""


def node(address: str, gpus: float = 1.0, alive: bool = True) -> dict[str, Any]:
    resources = {"CPU": 2.0, **({"GPU": gpus} if gpus else {})} if alive else {}
    return {"NodeManagerAddress": address, "Alive": alive, "Resources": resources}


@pytest.mark.parametrize(
    ("arguments", "rank"),
    [
        ("--rank 0 --nodes 192.0.2.11,192.0.2.12 --port 6379 -- vllm serve m", HEAD),
        ("--nodes 192.0.2.11,192.0.2.12 --port 6379 --rank 1", WORKER),
    ],
)
def test_arguments(arguments: str, rank: Rank) -> None:
    assert ray_rank.read_arguments(arguments.split()) == rank


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--rank 0 --nodes 192.0.2.11 --port x -- vllm",
        "--rank 2 --nodes 192.0.2.11,192.0.2.12 --port 6379",
        "--rank 0 --nodes 192.0.2.11,192.0.2.12 --port 6379",
        "--rank 1 --nodes 192.0.2.11,192.0.2.12 --port 6379 -- vllm",
    ],
)
def test_arguments_that_are_none(arguments: str) -> None:
    with pytest.raises(RankError):
        ray_rank.read_arguments(arguments.split())


@pytest.mark.parametrize(
    ("rank", "command"),
    [
        (HEAD, f"ray start --head --port 6379 --node-ip-address 192.0.2.11 {COMMON} --include-dashboard=false"),
        (WORKER, f"ray start --address 192.0.2.11:6379 --node-ip-address 192.0.2.12 {COMMON} --block"),
        (
            Rank(1, ("2001:db8::1", "2001:db8::2"), 6380, ()),
            f"ray start --address [2001:db8::1]:6380 --node-ip-address 2001:db8::2 {COMMON} --block",
        ),
    ],
)
def test_start(rank: Rank, command: str) -> None:
    assert ray_rank.start_argv(rank) == command.split()


@pytest.mark.parametrize(
    ("nodes", "complete", "sentence"),
    [
        ([], False, "0 of 2 nodes of the Ray cluster are there; missing 192.0.2.11, 192.0.2.12"),
        ([node("192.0.2.11")], False, "1 of 2 nodes of the Ray cluster are there; missing 192.0.2.12"),
        (
            [node("192.0.2.12"), node("192.0.2.12", alive=False), node("192.0.2.11"), node("192.0.2.99", alive=False)],
            True,
            "All 2 nodes of the Ray cluster are there: 192.0.2.11 (1 GPU), 192.0.2.12 (1 GPU)",
        ),
    ],
)
def test_verdict(nodes: list[dict[str, Any]], complete: bool, sentence: str) -> None:
    assert ray_rank.verdict(nodes, ADDRESSES) == (complete, sentence)


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ([node("192.0.2.11"), node("192.0.2.12"), node("192.0.2.13")], "192.0.2.13 (1 GPU)"),
        ([node("192.0.2.11"), node("192.0.2.12", gpus=0)], "192.0.2.12 (0 GPU)"),
        ([node("192.0.2.11", gpus=2)], "192.0.2.11 (2 GPU)"),
        ([node("192.0.2.11"), node("192.0.2.11")], "192.0.2.11 (1 GPU), 192.0.2.11 (1 GPU)"),
    ],
    ids=["a stranger", "no GPU", "two GPUs", "an address twice"],
)
def test_a_cluster_that_is_not_this_replica(nodes: list[dict[str, Any]], found: str) -> None:
    with pytest.raises(RankError) as caught:
        ray_rank.verdict(nodes, ADDRESSES)
    assert found in str(caught.value)


def test_n11_a_node_with_another_address_than_its_host_ip() -> None:
    with pytest.raises(RankError) as caught:
        ray_rank.verdict([node("198.51.100.21"), node("192.0.2.12")], ADDRESSES)
    assert str(caught.value) == (
        "The Ray cluster is not this replica: found the nodes 192.0.2.12 (1 GPU), 198.51.100.21 (1 GPU), wanted"
        " 192.0.2.11, 192.0.2.12, 1 GPU each. Stop the other Ray cluster, or mend the address: each node is to have the"
        " address of its VLLM_HOST_IP."
    )


def test_a_head_that_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RankError) as caught:
        ray_rank.wait_for_head(Rank(1, ("127.0.0.1", "127.0.0.2"), port, ()), timeout=0)
    assert str(caught.value).startswith(f"No Ray head answered at 127.0.0.1:{port} within 0 s (")


@pytest.fixture
def container(tmp_path: Path) -> dict[str, str]:
    """The environment of a container with a `ray` command, a `ray` package and an engine that record."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("ray", "vllm"):
        (commands / name).write_text(RECORDER.format(python=sys.executable), encoding="utf-8")
        (commands / name).chmod(0o755)
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "ray.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    return {
        "PATH": str(commands),
        "PYTHONPATH": str(packages),
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path / "tmp"),
        "RECORD": str(tmp_path / "record"),
        "NODES": json.dumps([[node("127.0.0.1")], [node("127.0.0.1"), node("127.0.0.2")]]),
    }


def run(environment: dict[str, str], rank: int, port: int = 6379) -> subprocess.CompletedProcess[str]:
    """Run the program as a file of its own, as in a container."""
    command = [sys.executable, ray_rank.__file__, "--rank", str(rank), "--nodes", "127.0.0.1,127.0.0.2"]
    command += ["--port", str(port), *(["--", "vllm", "serve", "m"] if rank == 0 else [])]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def record(environment: dict[str, str]) -> list[list[str]]:
    return [json.loads(line) for line in Path(environment["RECORD"]).read_text(encoding="utf-8").splitlines()]


def test_rank_0_starts_the_head_waits_for_all_and_becomes_the_engine(container: dict[str, str]) -> None:
    done = run(container, 0)
    assert done.returncode == 0, done.stdout + done.stderr
    started, engine = record(container)
    assert started[:3] == ["ray", "start", "--head"]
    assert engine == ["vllm", "serve", "m", "127.0.0.1:6379"]
    assert "ray_rank: 1 of 2 nodes of the Ray cluster are there; missing 127.0.0.2\n" in done.stdout
    assert "ray_rank: All 2 nodes of the Ray cluster are there" in done.stdout


def test_a_worker_becomes_a_node_when_the_head_listens(container: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as head:
        port = head.getsockname()[1]
        assert run(container, 1, port).returncode == 0
    [joined] = record(container)
    assert joined[:4] == ["ray", "start", "--address", f"127.0.0.1:{port}"]
    assert joined[-2] == "--block"


def test_what_an_earlier_cluster_left_is_removed_first(container: dict[str, str]) -> None:
    session = Path(container["TMPDIR"]) / "ray" / "session_latest"
    session.mkdir(parents=True)
    assert run(container, 0).returncode == 0
    assert record(container)[0] == ["ray", "stop", "--force", ""]
    assert not session.exists()


def test_a_stranger_in_the_cluster_ends_rank_0_before_the_engine(container: dict[str, str]) -> None:
    done = run({**container, "NODES": json.dumps([[node("127.0.0.1"), node("192.0.2.12")]])}, 0)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("ray_rank: The Ray cluster is not this replica: found the nodes")
    assert [command[0] for command in record(container)] == ["ray"]
    assert "Traceback" not in done.stderr


def test_a_head_that_fails(container: dict[str, str]) -> None:
    done = run({**container, "RAY_CODE": "3"}, 0)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == (
        "ray_rank: The Ray head did not start (ray start ended with code 3): its last lines are above."
    )


@pytest.mark.parametrize("missing", ["PATH", "PYTHONPATH"])
def test_n16_an_image_without_ray_is_named(container: dict[str, str], missing: str) -> None:
    done = run({**container, missing: "/nonexistent"}, 0)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == f"ray_rank: {ray_rank.NO_RAY}"


def test_n04_vllm_is_told_to_keep_the_variables_of_each_host(container: dict[str, str]) -> None:
    file = Path(container["HOME"]) / ".config" / "vllm" / "ray_non_carry_over_env_vars.json"
    file.parent.mkdir(parents=True)
    file.write_text('["OF_THE_IMAGE"]', encoding="utf-8")
    assert run(container, 0).returncode == 0
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept == sorted(["OF_THE_IMAGE", *ray_rank.PER_HOST_VARIABLES, "VLLM_API_KEY"])


def test_a_signal_ends_it_while_it_waits(container: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [sys.executable, ray_rank.__file__, "--rank", "1", "--nodes", "127.0.0.1,127.0.0.2", "--port", str(port)]
    with subprocess.Popen(command, env={**os.environ, **container}, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(f"ray_rank: waiting for the head at 127.0.0.1:{port}: ")
        process.terminate()
        assert process.wait(timeout=60) == 143
