# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured: no gateway at all, every provider as we render it, and the one of an afternoon."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.features import can
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS
from benchmarks.gateway.engine import MODEL
from benchmarks.gateway.stage import DOOR_PORTS, ENGINE_PORTS, NAMES, wait_until_answers
from lab.cache import cached, content_key
from tests.gateway.providers import start

DIRECT, FASTAPI = "direct", "FastAPI"
# Of the pass-through; a provider has two ports of its own, for clients and for metrics.
FASTAPI_PORT, FIRST_PORT = 29890, 29900
KEY_NAME, KEY = "benchmark", "sk-benchmark"
FASTAPI_PACKAGES = ("fastapi==0.163.2", "httpx==0.28.1", "uvicorn[standard]==0.54.0")


@dataclass
class Target:
    """Where the client connects (several ports: its users are spread over them), with which key, and who serves."""

    name: str
    ports: tuple[int, ...]
    key: str
    pids: tuple[int, ...]
    stop: Callable[[], None]


def claims(target: Target, feature: str) -> bool:
    """Whether a target is a provider that claims a feature."""
    return target.name in PROVIDERS and can(target.name, feature)


def direct() -> Target:
    """The engines themselves."""
    return Target(DIRECT, ENGINE_PORTS, "", (), lambda: None)


def _fastapi_packages() -> Path:
    def build(target: Path) -> None:
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
        subprocess.run([*pip, f"--target={target}", *FASTAPI_PACKAGES], check=True)

    return cached("fastapi", content_key(*FASTAPI_PACKAGES, sys.version), build)


def fastapi(folder: Path) -> Target:
    """Start the pass-through in front of both engines."""
    packages = _fastapi_packages()
    environment = {
        **os.environ,
        "PYTHONPATH": str(packages),
        "ENGINES": " ".join(f"http://127.0.0.1:{port}" for port in ENGINE_PORTS),
        "NO_PROXY": "*",
    }
    here = Path(__file__).parent
    command = [sys.executable, "-m", "uvicorn", "--app-dir", str(here), "--port", str(FASTAPI_PORT), "--no-access-log"]
    with (folder / "fastapi.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, "fastapi_passthrough:app"], cwd=folder, env=environment, stdout=log, stderr=log
        )

    def stop() -> None:
        process.kill()
        process.wait()

    wait_until_answers(FASTAPI_PORT)
    return Target(FASTAPI, (FASTAPI_PORT,), "", (process.pid,), stop)


def _description(name: str, concurrency: int, queue: int, ports: tuple[int, int]) -> dict[str, Any]:
    """What the plan would say of this gateway."""
    replicas = [
        {
            "name": replica,
            "container": replica,
            "host": "here",
            "address": "127.0.0.1",
            "port": port,
            "health_address": "127.0.0.1",
            "health_port": door,
        }
        for replica, port, door in zip(NAMES, ENGINE_PORTS, DOOR_PORTS, strict=True)
    ]
    deployment = {"name": MODEL, "served_model_name": MODEL, "engine": "vllm", "replicas": replicas}
    deployment |= {"concurrency": concurrency, "queue": queue, "queue_timeout": 60}
    return {
        "provider": name,
        "hosts": ["here"],
        "listen": {"address": "127.0.0.1", "port": ports[0]},
        "urls": {"here": f"http://127.0.0.1:{ports[0]}"},
        "tls": "",
        "names": ["127.0.0.1"],
        "keys": [KEY_NAME],
        "deployments": [deployment],
        "responses": "pinned",
        "paths": [],
        "body_limit": 64 << 20,
        "timeout": 600,
        "connect_timeout": 2,
        "metrics": {"address": "127.0.0.1", "port": ports[1]},
        "engine_key": True,
        "router_policy": "power_of_two",
        "litellm": {"settings": {}, "own_keys": False},
    }


def provider(name: str, folder: Path, concurrency: int, queue: int) -> Target:
    """Start a provider as we render it, with a client key and the engines' own.

    :param concurrency: requests at once at one engine
    :param queue: requests that may wait
    """
    number = list(PROVIDERS).index(name)
    ports = FIRST_PORT + 2 * number, FIRST_PORT + 2 * number + 1
    described = _description(name, concurrency, queue, ports)
    started = start(described, folder / name, keys={KEY_NAME: KEY}, engine_key="sk-engine")
    return Target(name, (ports[0],), KEY, tuple(started.pids), started.stop)
