# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether containers get the GPU."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.checks import gpu_container
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import docker_info
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, Output, Raw

RUNC = {"runc": {}, "io.containerd.runc.v2": {}}
NVIDIA = {**RUNC, "nvidia": {"path": "/usr/bin/nvidia-container-runtime"}}
CONFIGURED = '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime", "runtimeArgs": []}}}'
TOOLKIT, PACKAGE, SNAP = "/usr/bin/nvidia-container-runtime", "/usr/bin/docker", "/snap/bin/docker"
NO_DRIVER = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'
PROBE = Want(image="acme/vllm:x", gpu_probe=True)


def host(
    runtimes: dict[str, object], links: tuple[str, ...], daemon: str = "", trial: Output | None = None, **info: object
) -> Raw:
    answer = {"ServerVersion": "29.6.2", "Runtimes": runtimes, **info}
    outputs = {"docker_info": Output(0, json.dumps(answer)), **({"gpu_trial": trial} if trial else {})}
    return Raw({"/etc/docker/daemon.json": daemon}, dict.fromkeys(links, ""), outputs)


@pytest.mark.parametrize(
    ("raw", "status", "found", "remedy"),
    [
        (host(NVIDIA, (TOOLKIT, PACKAGE), CONFIGURED), "pass", "runtime nvidia", ""),
        (host({"nvidia": {"path": "/opt/nvidia/toolkit/nvidia-container-runtime"}}, ()), "pass", "runtime nvidia", ""),
        (host(RUNC, (TOOLKIT, PACKAGE), CONFIGURED), "fail", "was not restarted", "systemctl restart docker"),
        (host(RUNC, (SNAP,), CONFIGURED), "fail", "Docker from snap", "snap remove docker"),
        (host(RUNC, (TOOLKIT, PACKAGE)), "fail", "Docker is not told", "nvidia-ctk runtime configure"),
        (host(RUNC, (PACKAGE,)), "fail", "is not installed", "installs nvidia-container-toolkit"),
        (host(NVIDIA, (PACKAGE,), CONFIGURED), "fail", "is gone", "installs nvidia-container-toolkit"),
        (host(RUNC, (PACKAGE, TOOLKIT, "/etc/cdi/nvidia.yaml")), "warn", "a CDI description only", "nvidia-ctk"),
        (
            host(RUNC, (PACKAGE,), DiscoveredDevices=[{"Source": "cdi", "ID": "nvidia.com/gpu=all"}]),
            "warn",
            "a CDI description only",
            "nvidia-ctk",
        ),
        (Raw(), "skip", "follows from docker.engine", ""),
    ],
)
def test_d07_causes_of_no_gpu_in_containers_are_told_apart(raw: Raw, status: str, found: str, remedy: str) -> None:
    check = gpu_container.runtime(raw, docker_info.engine(raw), None)
    assert check.status == status
    assert found in check.found
    assert remedy in check.remedy


def test_d07_a_docker_that_was_not_restarted_needs_no_toolkit() -> None:
    raw = host(RUNC, (PACKAGE,), CONFIGURED)
    assert "toolkit" not in gpu_container.runtime(raw, docker_info.engine(raw), None).remedy


@pytest.mark.parametrize(
    ("raw", "statuses"),
    [
        (host(RUNC, (TOOLKIT, PACKAGE), trial=Output(0, "GPU 0: NVIDIA GB10 (UUID: GPU-1)\n")), ["pass", "pass"]),
        (host(RUNC, (TOOLKIT, PACKAGE), trial=Output(125, err=NO_DRIVER)), ["fail", "skip"]),
        (host(NVIDIA, (TOOLKIT, PACKAGE), trial=Output(125, err=NO_DRIVER)), ["pass", "fail"]),
        (host(RUNC, (PACKAGE, "/etc/cdi/nvidia.yaml"), trial=Output(125, err=NO_DRIVER)), ["warn", "fail"]),
    ],
)
def test_d07_a_container_that_tries_decides(raw: Raw, statuses: list[str]) -> None:
    found = gpu_container.checks(raw, PROBE, docker_info.engine(raw))
    assert [check.status for check in found] == statuses


def test_d08_a_container_that_lost_the_gpu_is_to_be_made_anew() -> None:
    check = gpu_container.verdict(Output(255, "Failed to initialize NVML: Unknown Error\n"))
    assert (check.status, check.found) == ("fail", "the container has lost the GPU")
    assert check.remedy.startswith("Recreate the container")


@pytest.mark.parametrize(
    ("output", "status", "found"),
    [
        (Output(0, "GPU 0: NVIDIA GB10 (UUID: GPU-0f059bf0)\n"), "pass", "GPU 0: NVIDIA GB10"),
        (Output(125, err="docker: Error response from daemon: No such image: acme/vllm:x"), "skip", "not on this host"),
        (Output(1, err="Error response from daemon: container 1a is not running"), "skip", "ended meanwhile"),
        (Output(1, err="exec /usr/bin/nvidia-smi: exec format error"), "skip", "image.architecture"),
        (Output(1, err="Cannot connect to the Docker daemon at unix:///var/run/docker.sock."), "skip", "docker.engine"),
        (Output(LATE), "warn", "no answer in time"),
        (
            Output(127, err='exec: "nvidia-smi": executable file not found in $PATH: unknown.'),
            "warn",
            "nothing is proved",
        ),
        (Output(125, err="failed to inject CDI devices: unresolvable CDI devices nvidia.com/gpu=all"), "fail", "CDI"),
        (
            Output(1, err="nvidia-container-cli: initialization error: nvml error: driver not loaded"),
            "fail",
            "it says: ",
        ),
        (Output(0, ""), "fail", "it says: exit code 0"),
    ],
)
def test_what_the_trial_showed(output: Output, status: str, found: str) -> None:
    check = gpu_container.verdict(output)
    assert check.status == status
    assert found in check.found
    assert bool(check.remedy) is (status in ("warn", "fail"))


def test_the_trial_is_made_only_when_asked_for_and_in_the_engine_where_it_runs() -> None:
    assert not gpu_container.sources(Want(image="acme/vllm:x")).commands
    assert not gpu_container.sources(Want(gpu_probe=True)).commands
    start = gpu_container.sources(PROBE).commands["gpu_trial"]
    assert start[:3] == ("docker", "run", "--rm")
    assert start[-4:] == ("--entrypoint", "nvidia-smi", "acme/vllm:x", "-L")
    running = Want(image="acme/vllm:x", gpu_probe=True, settled=True, container="dgxspark-a-0-r0")
    ask = gpu_container.sources(running).commands["gpu_trial"]
    assert ask == ("docker", "exec", "dgxspark-a-0-r0", "nvidia-smi", "-L")
