# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engine containers on the lab's hosts, run by hand through ssh: what the tests of the engines share."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from lab.lab import Lab

MODEL = "tiny-qwen3"
PORT = 8000
FABRIC = {"spark1": "10.100.0.1", "spark2": "10.100.0.2"}
INTERFACE = "enp1s0f0np0"
POLL_SECONDS = 0.5
LAST_LINES = "25"


@dataclass(frozen=True)
class EngineContainer:
    """A container on a host."""

    lab: Lab
    host: str
    name: str

    def docker(self, *arguments: str) -> tuple[int, str, str]:
        """Run a docker command on its host."""
        return self.lab.run(self.host, ["docker", *arguments])

    def state(self) -> dict[str, Any]:
        """Return Docker's State of it."""
        code, output, error = self.docker("inspect", "--format", "{{json .State}}", self.name)
        assert code == 0, error
        return json.loads(output)

    def log(self) -> str:
        """Return its last lines."""
        _code, output, error = self.docker("logs", "--tail", LAST_LINES, self.name)
        return f"--- {self.host}: {self.name}\n{output}{error}"


def wait_for(condition: Callable[[], Any], what: str, seconds: float, containers: Sequence[EngineContainer]) -> Any:
    """Return the first true value; fails with the containers' last lines after some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(POLL_SECONDS)
    return pytest.fail(f"{what}: not within {seconds:.0f} s\n" + "\n".join(each.log() for each in containers))


class EngineHosts:
    """Starts engine containers, and asks the API of rank 0 on spark1."""

    def __init__(self, lab: Lab, image: str) -> None:
        self.lab = lab
        self.image = image
        self.containers: list[EngineContainer] = []

    def start(self, host: str, command: Sequence[str], environment: dict[str, str] | None = None) -> EngineContainer:
        """Run a command of the image as a Spark would; `command` begins with the program."""
        container = EngineContainer(self.lab, host, f"engine{len(self.containers)}")
        argv = ["run", "--detach", "--name", container.name, "--network", "host", "--ipc", "host", "--gpus", "all"]
        argv += ["--volume", "/srv/models:/srv/models:ro", "--entrypoint", command[0]]
        own = {"VLLM_HOST_IP": FABRIC[host], "GLOO_SOCKET_IFNAME": INTERFACE, **(environment or {})}
        argv += [word for name, value in own.items() for word in ("--env", f"{name}={value}")]
        container.docker("rm", "--force", container.name)
        code, _output, error = container.docker(*argv, self.image, *command[1:])
        assert code == 0, error
        self.containers.append(container)
        return container

    def serve(self, host: str, *flags: str, environment: dict[str, str] | None = None) -> EngineContainer:
        """Run `vllm serve` of the tiny model."""
        return self.start(host, serve_command(*flags), environment)

    def curl(self, *arguments: str, seconds: int = 120) -> tuple[int, str]:
        """Ask the API on spark1; returns curl's exit code and the body."""
        argv = ["curl", "--silent", "--show-error", "--max-time", str(seconds), *arguments]
        code, output, _error = self.lab.run("spark1", argv)
        return code, output

    def health(self) -> str:
        """Return the status of /health, `000` when nothing answers."""
        url = f"http://127.0.0.1:{PORT}/health"
        return self.curl("--output", "/dev/null", "--write-out", "%{http_code}", url, seconds=10)[1]

    def wait_ready(self, seconds: float) -> float:
        """Wait until the API is healthy; returns the seconds it took."""
        began = time.monotonic()

        def ready() -> bool:
            for container in self.containers:
                state = container.state()
                if not state["Running"]:
                    pytest.fail(f"ended with code {state['ExitCode']}\n{container.log()}")
            return self.health() == "200"

        wait_for(ready, "healthy", seconds, self.containers)
        return time.monotonic() - began

    def chat(self, tokens: int, seconds: int = 120) -> tuple[int, list[Any]]:
        """Stream exactly so many tokens; returns curl's exit code and the events (`[DONE]` stays a string)."""
        body = {
            "model": MODEL,
            "messages": [{"role": "user", "content": "say something"}],
            "max_tokens": tokens,
            "ignore_eos": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        url = f"http://127.0.0.1:{PORT}/v1/chat/completions"
        header = ("--header", "content-type: application/json")
        code, output = self.curl("--no-buffer", *header, "--data", json.dumps(body), url, seconds=seconds)
        data = [line[6:] for line in output.splitlines() if line.startswith("data: ")]
        return code, [item if item == "[DONE]" else json.loads(item) for item in data]

    def check_stream(self, tokens: int) -> dict[str, Any]:
        """Stream tokens, check text, counts and end; returns the last event, which holds the usage."""
        code, events = self.chat(tokens)
        logs = "\n".join(each.log() for each in self.containers)
        assert code == 0, logs
        assert events[-1] == "[DONE]", logs
        text = "".join(choice["delta"].get("content") or "" for event in events[:-1] for choice in event["choices"])
        assert text.strip(), logs
        assert events[-2]["usage"]["completion_tokens"] == tokens
        return events[-2]

    def remove_all(self) -> None:
        """Remove the containers."""
        for container in self.containers:
            container.docker("rm", "--force", "--volumes", container.name)


@contextmanager
def engine_hosts(lab: Lab, image: str) -> Iterator[EngineHosts]:
    """Give the hosts, and remove all containers at the end."""
    hosts = EngineHosts(lab, image)
    try:
        yield hosts
    finally:
        hosts.remove_all()


def serve_command(*flags: str) -> list[str]:
    """Return the `vllm serve` command of the tiny model."""
    common = ["--served-model-name", MODEL, "--host", "0.0.0.0", "--port", str(PORT), "--enforce-eager"]
    return ["vllm", "serve", f"/srv/models/{MODEL}", *common, "--max-model-len", "2048", "--max-num-seqs", "16", *flags]


def rank_flags(rank: int, *flags: str) -> list[str]:
    """Return the flags of one of two mp ranks over the fabric."""
    common = ["--tensor-parallel-size", "2", "--distributed-executor-backend", "mp", "--nnodes", "2"]
    common += ["--master-addr", FABRIC["spark1"], "--master-port", "29501", "--node-rank", str(rank)]
    return [*common, *(["--headless"] if rank else []), *flags]


def ray_head_command(*flags: str) -> list[str]:
    """Return a shell command that starts Ray's head and then an engine of two ranks over the cluster."""
    head = ["ray", "start", "--head", "--node-ip-address", FABRIC["spark1"], "--port", "6379", "--num-gpus", "1"]
    parallel = ("--tensor-parallel-size", "2", "--distributed-executor-backend", "ray")
    return ["sh", "-c", f"{shlex.join(head)} && exec {shlex.join(serve_command(*parallel, *flags))}"]


def ray_node_command() -> list[str]:
    """Return the command that makes spark2 a node of spark1's cluster."""
    node = ["--node-ip-address", FABRIC["spark2"], "--num-gpus", "1", "--block"]
    return ["ray", "start", "--address", f"{FABRIC['spark1']}:6379", *node]
