# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One rank of a replica whose ranks find each other by Ray. Runs inside the engine's container, as its first process.

    ray_rank.py --rank RANK --nodes ADDRESS,ADDRESS,... --port PORT [-- ENGINE ARGUMENT ...]

Every rank first removes what an earlier cluster left in its container. Rank 0 then starts the head, waits until the
cluster has exactly the nodes that are named, and becomes the engine. The others wait for the head and become its nodes.
The file is copied to hosts as it is: standard library only, and nothing else of this collection.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

JOIN_TIMEOUT = 600.0  # seconds for the cluster to come together
POLL = 0.5  # seconds
CONNECT_TIMEOUT = 2.0  # seconds

# Bytes. Left alone Ray takes a third of the memory for objects, which here is the GPU's too; vLLM passes little.
OBJECT_STORE = 1 << 30
# Ray starts idle processes for each CPU that a node offers, and vLLM's workers ask for none.
CPUS = 2

# Of these every host has values of its own, and vLLM is not to hand rank 0's to the other ranks (field fault N04).
PER_HOST_VARIABLES = (
    "GLOO_SOCKET_IFNAME",
    "NCCL_IB_GID_INDEX",
    "NCCL_IB_HCA",
    "NCCL_SOCKET_IFNAME",
    "OMPI_MCA_btl_tcp_if_include",
    "TP_SOCKET_IFNAME",
    "UCX_NET_DEVICES",
)

# Only rank 0 answers requests, and to the other ranks vLLM's variables go in the clear.
SECRET_VARIABLES = ("VLLM_API_KEY",)

NO_RAY = (
    "This image has no Ray, which serving_backend: ray needs. Set serving_backend: mp, or choose an image that has Ray."
)


class RankError(Exception):
    """The rank cannot be one; the text is for the user."""


@dataclass(frozen=True)
class Rank:
    """One rank.

    :ivar nodes: node address of each rank
    :ivar port: port of the head
    :ivar engine: the engine's command; only rank 0 has one
    """

    number: int
    nodes: tuple[str, ...]
    port: int
    engine: tuple[str, ...]

    @property
    def head(self) -> str:
        """Address and port of the head in one text."""
        host = self.nodes[0]
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def read_arguments(arguments: Sequence[str]) -> Rank:
    """Read the command line.

    :raises RankError: when it is none
    """
    given = list(arguments)
    cut = given.index("--") if "--" in given else len(given)
    options = dict(zip(given[0:cut:2], given[1:cut:2], strict=False))
    try:
        rank = Rank(
            number=int(options["--rank"]),
            nodes=tuple(options["--nodes"].split(",")),
            port=int(options["--port"]),
            engine=tuple(given[cut + 1 :]),
        )
    except (KeyError, ValueError):
        raise RankError(f"ray_rank.py cannot read its command line: {' '.join(given)}") from None
    if not 0 <= rank.number < len(rank.nodes) or (rank.number == 0) != bool(rank.engine):
        raise RankError(f"ray_rank.py needs a rank of those named, and the engine for rank 0: {' '.join(given)}")
    return rank


def start_argv(rank: Rank) -> list[str]:
    """The command that makes this container a node of the cluster."""
    common = ["--node-ip-address", rank.nodes[rank.number], "--num-gpus", "1", "--num-cpus", str(CPUS)]
    common += ["--object-store-memory", str(OBJECT_STORE), "--disable-usage-stats"]
    if rank.number == 0:
        return ["ray", "start", "--head", "--port", str(rank.port), *common, "--include-dashboard=false"]
    return ["ray", "start", "--address", rank.head, *common, "--block"]


def verdict(nodes: Iterable[Mapping[str, Any]], wanted: Sequence[str]) -> tuple[bool, str]:
    """Whether the cluster is the one that is wanted, in one sentence.

    :param nodes: as ``ray.nodes()`` gives them
    :param wanted: node address of each rank
    :returns: whether all are there, and what is there
    :raises RankError: when it can never become the wanted one: a stranger, an address twice, other than one GPU (N11)
    """
    found = sorted(
        (str(node["NodeManagerAddress"]), node["Resources"].get("GPU", 0.0)) for node in nodes if node["Alive"]
    )
    addresses = [address for address, _gpus in found]
    strange = (
        set(addresses) - set(wanted) or len(set(addresses)) < len(addresses) or any(gpus != 1.0 for _at, gpus in found)
    )
    shown = ", ".join(f"{address} ({gpus:g} GPU)" for address, gpus in found) or "none"
    if strange:
        raise RankError(
            f"The Ray cluster is not this replica: found the nodes {shown}, wanted {', '.join(wanted)}, 1 GPU each. "
            "Stop the other Ray cluster, or mend the address: each node is to have the address of its VLLM_HOST_IP."
        )
    missing = [address for address in wanted if address not in addresses]
    if missing:
        return False, f"{len(found)} of {len(wanted)} nodes of the Ray cluster are there; missing {', '.join(missing)}"
    return True, f"All {len(wanted)} nodes of the Ray cluster are there: {shown}"


def say(text: str) -> None:
    """Write one line to the container's log."""
    sys.stdout.write(f"ray_rank: {text}\n")
    sys.stdout.flush()


def remove_old_cluster() -> None:
    """End what is left of a cluster in this container. A container that is new has nothing, and starts faster."""
    folder = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray"
    if folder.exists():
        say("removing what an earlier cluster left")
        subprocess.run(["ray", "stop", "--force"], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_head(rank: Rank, timeout: float = JOIN_TIMEOUT) -> None:
    """Wait until something listens at the head's port.

    :raises RankError: when nothing does
    """
    deadline = time.monotonic() + timeout
    said = ""
    while True:
        try:
            socket.create_connection((rank.nodes[0], rank.port), CONNECT_TIMEOUT).close()
            return
        except OSError as error:
            reason = str(error)
        if time.monotonic() > deadline:
            raise RankError(
                f"No Ray head answered at {rank.head} within {timeout:g} s ({reason}): look at the log of rank 0, and "
                f"whether this host reaches {rank.nodes[0]}."
            )
        if reason != said:
            say(f"waiting for the head at {rank.head}: {reason}")
            said = reason
        time.sleep(POLL)


def wait_for_nodes(rank: Rank, timeout: float = JOIN_TIMEOUT) -> None:
    """Wait until the cluster has exactly the nodes of this replica.

    :raises RankError: when it cannot become so, or does not in time
    """
    try:
        import ray
    except ImportError:
        raise RankError(NO_RAY) from None
    ray.init(address=rank.head, log_to_driver=False, configure_logging=False)
    deadline = time.monotonic() + timeout
    said = ""
    while True:
        complete, sentence = verdict(ray.nodes(), rank.nodes)
        if sentence != said:
            say(sentence)
            said = sentence
        if complete:
            break
        if time.monotonic() > deadline:
            raise RankError(f"After {timeout:g} s {sentence}: look at the logs of those ranks.")
        time.sleep(POLL)
    ray.shutdown()


def keep_host_variables() -> None:
    """Tell vLLM which variables rank 0 is not to hand to the other ranks, beside those that the image names."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    file = Path(os.environ.get("VLLM_CONFIG_ROOT") or home / "vllm") / "ray_non_carry_over_env_vars.json"
    try:
        named = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        named = []
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(sorted({*named, *PER_HOST_VARIABLES, *SECRET_VARIABLES})), encoding="utf-8")
    except OSError as error:
        say(f"vLLM may hand the NCCL variables and the key of rank 0 to the other ranks: {error}")


def run(rank: Rank) -> None:
    """Become the rank; returns only by an exception.

    :raises RankError: with what the user is to know
    """
    if shutil.which("ray") is None:
        raise RankError(NO_RAY)
    remove_old_cluster()
    argv = start_argv(rank)
    if rank.number != 0:
        wait_for_head(rank)
        say("joining: " + " ".join(argv))
        os.execvp(argv[0], argv)
    say("starting the head: " + " ".join(argv))
    code = subprocess.run(argv, check=False).returncode
    if code:
        raise RankError(f"The Ray head did not start (ray start ended with code {code}): its last lines are above.")
    wait_for_nodes(rank)
    keep_host_variables()
    os.environ["RAY_ADDRESS"] = rank.head
    say("starting the engine")
    os.execvp(rank.engine[0], rank.engine)


def end(number: int, _frame: FrameType | None) -> None:
    """End as a program does that a signal has ended."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str]) -> int:
    """Run the program; returns the exit code when the rank cannot be one."""
    # As the first process of a container it would not be ended by a signal that it does not handle.
    signal.signal(signal.SIGTERM, end)
    try:
        run(read_arguments(arguments))
    except RankError as error:
        say(str(error))
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
