# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether containers get the GPU: how Docker is set up for it, and a container that tries. Pure."""

from __future__ import annotations

import re

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import docker_info, nvidia_smi
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.docker_info import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, Output, Raw, Sources

TRIAL = "gpu_trial"
RUNTIME = "nvidia"
PROGRAM = "/usr/bin/nvidia-container-runtime"
CDI_FOLDERS = ("/etc/cdi/", "/var/run/cdi/")
CDI_DEVICE = "nvidia.com/gpu"
WANTED = "the runtime nvidia in Docker"
RESTART = "Restart Docker while no engine runs: systemctl restart docker."
SET_UP = "Run the playbook prepare, or: nvidia-ctk runtime configure --runtime=docker, and systemctl restart docker."
INSTALL = "Run the playbook prepare, which installs nvidia-container-toolkit."
RECREATE = "Recreate the container: a running one loses the GPU for good after systemctl daemon-reload."


def sources(want: Want) -> Sources:
    """What to read and run: the engine's own container where it runs, else one of its image that ends at once."""
    links = (PROGRAM, *(f"{folder}*nvidia*" for folder in CDI_FOLDERS))
    if not want.gpu_probe or not want.image:
        return Sources(links=links)
    running = want.container if want.settled else ""
    ask = ("docker", "exec", running, "nvidia-smi", "-L")
    start = ("docker", "run", "--rm", "--gpus", "all", "--network", "none", "--pull", "never")
    return Sources(
        links=links, commands={TRIAL: ask if running else (*start, "--entrypoint", "nvidia-smi", want.image, "-L")}
    )


def checks(raw: Raw, want: Want, engine: Engine) -> list[Check]:
    """Both answers; the trial decides where it was made (field fault D07)."""
    trial = container(raw, want)
    found = runtime(raw, engine, trial)
    if trial.status == "fail" and found.status == "fail":
        trial = skipped(trial.id, "follows from gpu.runtime")
    return [found, trial]


def runtime(raw: Raw, engine: Engine, trial: Check | None) -> Check:
    """Whether Docker can give a container the GPU, as far as its set-up says."""
    name, there = "gpu.runtime", PROGRAM in raw.links
    if engine.trouble:
        return skipped(
            name, "follows from docker.access" if engine.trouble == docker_info.DENIED else "follows from docker.engine"
        )
    if trial is not None and trial.status == "pass":
        return passed(name, "a container sees the GPU")
    if docker_info.from_snap(raw, engine):
        remedy = "Remove it, and with it its images, by: snap remove docker. Then run the playbook prepare."
        return failed(name, "Docker from snap", "Docker Engine from packages", remedy)
    path = engine.runtimes.get(RUNTIME)
    if path is not None and (there or path not in (PROGRAM, PROGRAM.rpartition("/")[2])):
        return passed(name, f"runtime {RUNTIME}")
    if path is not None:
        return failed(name, f"Docker knows the runtime, but {PROGRAM} is gone", WANTED, INSTALL)
    if docker_info.has_runtime(raw.text(docker_info.DAEMON_JSON), RUNTIME):
        words = f"{docker_info.DAEMON_JSON} names the runtime, but Docker was not restarted since"
        return failed(name, words, WANTED, RESTART)
    if _has_cdi(raw, engine):
        detail = "Whether --gpus uses it depends on the version of Docker."
        return warned(name, "a CDI description only", WANTED, SET_UP, detail)
    if there:
        return failed(name, "nvidia-container-toolkit is installed, but Docker is not told", WANTED, SET_UP)
    return failed(name, "nvidia-container-toolkit is not installed", WANTED, INSTALL)


def _has_cdi(raw: Raw, engine: Engine) -> bool:
    files = [path for path in raw.links if path.startswith(CDI_FOLDERS) and path.endswith((".yaml", ".json"))]
    return bool(files) or any(device.startswith(CDI_DEVICE) for device in engine.cdi_devices)


def container(raw: Raw, want: Want) -> Check:
    """What the trial showed."""
    name = "gpu.container"
    if not want.gpu_probe:
        return skipped(name, "not asked for")
    if not want.image:
        return skipped(name, "no image is planned for this host")
    return verdict(raw.output(TRIAL))


def verdict(output: Output) -> Check:
    """What ``nvidia-smi -L`` in a container showed (field faults D07 and D08)."""
    name, wanted = "gpu.container", "the GPU in a container"
    lines = [line.strip() for line in output.out.splitlines() if line.startswith("GPU ")]
    if output.ok and lines:
        return passed(name, lines[0].partition(" (UUID")[0])
    if output.code == LATE:
        return warned(name, "the container gave no answer in time", wanted, "Try again when the host is not busy.")
    text = f"{output.out}\n{output.err}".lower()
    for words, reason in _SAYS_NOTHING:
        if re.search(words, text):
            return skipped(name, reason)
    for words, found, remedy in _FAULTS:
        if re.search(words, text):
            return failed(name, found, wanted, remedy)
    if re.search(r"nvidia-smi\W+executable file not found", text):
        remedy = "Use an image that does not narrow NVIDIA_DRIVER_CAPABILITIES, or try a deployment."
        return warned(name, "no nvidia-smi in the container, so nothing is proved", wanted, remedy)
    remedy = "Run it by hand: docker run --rm --gpus all --entrypoint nvidia-smi IMAGE -L."
    return failed(name, f"it says: {nvidia_smi.sentence(output)}", wanted, remedy)


_SAYS_NOTHING = (
    (r"no such image|unable to find image", "the image is not on this host yet"),
    (r"no such container|is not running", "the container ended meanwhile"),
    (r"exec format error", "follows from image.architecture"),
    (r"permission denied.*docker|connect to the docker", "follows from docker.engine"),
)
_FAULTS = (
    (r"could not select device driver|unknown or invalid runtime name", "Docker cannot give out the GPU", SET_UP),
    (
        r"unresolvable cdi devices|failed to inject cdi",
        "the CDI description of the GPU is missing, or older than the driver",
        "Make it anew: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml.",
    ),
    (r"initialize nvml: unknown error", "the container has lost the GPU", RECREATE),
    (r"driver/library version mismatch", "driver and library differ", "Reboot."),
)
