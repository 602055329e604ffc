# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment takes beside the engine's own start: `deploy-tp1.yml` and `deploy-tp2.yml` against `docker run`.

For each round two new lab hosts that hold image and model. First the engines are started by bare `docker run` until
each has given its first token, and removed; then the playbook deploys the same. The difference is ours. The hosts, the
engines and the controller share one machine.
The result is printed and appended to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table
from lab.docker_engine import connect, ensure_engine, stop_engine
from lab.engines import ENGINES
from lab.engines.engine import DENSE, MODEL_HOME, Engine
from lab.lab import Lab
from tools.ssh_masters import own_control_folder

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "benchmarks" / "RESULTS.md"
LAB = "overhead"
HOSTS = ("spark1", "spark2")
PORT = 8000
MASTER = "10.100.0.1"
READY_SECONDS = 900.0
POLL_SECONDS = 0.1
HEADER = ("playbook", "engine", "bare s", "deploy s", "ours s")


def flags(engine_args: Mapping[str, object]) -> list[str]:
    """Turn the engine's arguments of the lab's inventory into flags.

    >>> flags({"enforce-eager": True, "max-model-len": 2048})
    ['--enforce-eager', '--max-model-len', '2048']
    """
    return [
        word for flag, value in engine_args.items() for word in (f"--{flag}", *([] if value is True else [str(value)]))
    ]


def bare_command(engine: Engine, rank: int | None) -> list[str]:
    """Return the `docker run` command of one engine alone (rank None), or of a rank of two by mp."""
    variables = engine.host_vars()
    serve = ["serve", f"{MODEL_HOME}/{DENSE}", "--served-model-name", DENSE]
    serve += flags(variables["serving_engine_args"])  # type: ignore[arg-type]
    serve += ["--gpu-memory-utilization", str(variables["serving_gpu_memory_utilization"])]
    environment = ["--env", "HF_HUB_OFFLINE=1"]
    if rank is not None:
        serve += ["--distributed-executor-backend", "mp", "--tensor-parallel-size", "2", "--nnodes", "2"]
        serve += ["--node-rank", str(rank), "--master-addr", MASTER, "--master-port", "29501"]
        environment += ["--env", f"VLLM_HOST_IP=10.100.0.{rank + 1}", "--env", "GLOO_SOCKET_IFNAME=enp1s0f0np0"]
    serve += ["--headless"] if rank else ["--host", "0.0.0.0", "--port", str(PORT)]
    run = ["docker", "run", "--detach", "--name", "bare", "--gpus", "all", "--network", "host", "--ipc", "host"]
    run += ["--volume", f"{MODEL_HOME}:{MODEL_HOME}:ro", *environment, "--entrypoint", "vllm"]
    return [*run, engine.reference, *serve]


def has_generated(address: str) -> bool:
    """Say whether the engine at an address gives a token."""
    connection = http.client.HTTPConnection(address, PORT, timeout=READY_SECONDS)
    body = json.dumps({"model": DENSE, "prompt": "one", "max_tokens": 1})
    try:
        connection.request("POST", "/v1/completions", body, {"content-type": "application/json"})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def on_host(lab: Lab, host: str, argv: Sequence[str]) -> None:
    """Run a command that must work."""
    code, _output, error = lab.run(host, argv)
    if code:
        sys.exit(f"{host}: {' '.join(argv)} ended with {code}: {error}")


def bare(lab: Lab, engine: Engine, hosts_per_replica: int) -> float:
    """Return the seconds from the first `docker run` to the last first token; the containers are gone afterwards."""
    commands = {host: bare_command(engine, None if hosts_per_replica == 1 else rank) for rank, host in enumerate(HOSTS)}
    serving = HOSTS if hosts_per_replica == 1 else HOSTS[:1]
    addresses = [lab.address(lab.host(host)) for host in serving]
    start = time.monotonic()
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda host: on_host(lab, host, commands[host]), HOSTS))
    waiting = set(addresses)
    while waiting:
        if time.monotonic() - start > READY_SECONDS:
            sys.exit(f"no token from {', '.join(sorted(waiting))} in {READY_SECONDS:.0f} s")
        waiting = {address for address in waiting if not has_generated(address)}
        time.sleep(POLL_SECONDS)
    seconds = time.monotonic() - start
    for host in HOSTS:
        on_host(lab, host, ["docker", "rm", "--force", "bare"])
    return seconds


def deploy(playbook: str, inventory: Path) -> float:
    """Return the seconds that a playbook takes; one that fails ends the benchmark with its output."""
    with own_control_folder() as environment:
        start = time.monotonic()
        done = subprocess.run(
            ["ansible-playbook", "-i", str(inventory), playbook],
            cwd=CHECKOUT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - start
    if done.returncode:
        sys.exit(f"{playbook} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return seconds


def measure(engine: Engine, hosts_per_replica: int, inventory: Path) -> tuple[float, float]:
    """Return the seconds of bare engines and of the deployment, on hosts that are new."""
    lab = Lab(ensure_engine(), LAB)
    lab.down()  # of a benchmark that was killed
    try:
        lab.up(len(HOSTS), [engine], inventory)
        return bare(lab, engine, hosts_per_replica), deploy(f"deploy-tp{hosts_per_replica}.yml", inventory)
    finally:
        lab.down()


def row(playbook: str, engine: str, rounds: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    """Return one line of the result; the difference is the median of the rounds' own, for a machine's speed drifts."""
    alone = statistics.median(seconds for seconds, _deployed in rounds)
    deployed = statistics.median(seconds for _alone, seconds in rounds)
    ours = statistics.median(whole - part for part, whole in rounds)
    return (playbook, engine, f"{alone:.1f}", f"{deployed:.1f}", f"{ours:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=sorted(ENGINES), nargs="+", default=["double"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    was_there = connect() is not None
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name in options.engine:
                for size in (1, 2):
                    rounds = [
                        measure(ENGINES[name], size, Path(folder, "inventory")) for _round in range(options.rounds)
                    ]
                    rows.append(row(f"deploy-tp{size}.yml", name, rounds))
                    print("\n".join(table(HEADER, rows)), flush=True)
    finally:
        if not was_there:
            stop_engine()
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(
            f"\n### Deployment against bare `docker run`: {today}, {os.cpu_count()} cores, median of {options.rounds} "
            "rounds\n\nThe aim is a difference under 10 s.\n\n```text\n"
        )
        file.write("\n".join(table(HEADER, rows)) + "\n```\n")


if __name__ == "__main__":
    main()
