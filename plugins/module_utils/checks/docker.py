# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether Docker answers, to this user, and has room. Pure. ``docker.names`` is made where containers are known."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import docker_info
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.docker_info import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.machine import numbers
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

# The first Engine with all that a rank's container is given; its API is 1.41.
OLDEST = (20, 10)
# Bytes free where Docker stores, and bytes in all; the edge asks the file system, which needs no process.
DISK = "disk"
GB = 1000**3
# They copy whole images for each container.
SLOW_STORAGE = ("vfs",)
FOLLOWS = "follows from docker.engine"
# What is found and what to do, for the troubles that need no further look.
_SILENT = {
    docker_info.NOT_INSTALLED: ("no docker command", "Run the playbook prepare, which installs it."),
    docker_info.NOT_DOCKER: ("podman under the name docker", "Remove podman-docker, and run the playbook prepare."),
    docker_info.NO_ANSWER: ("no answer to docker info", "Restart Docker with: systemctl restart docker."),
}


def sources(want: Want) -> Sources:
    """What to read and run."""
    return docker_info.SOURCES


def facts(raw: Raw, want: Want) -> dict[str, Any]:
    """What is worth knowing of Docker; empty words where it does not answer."""
    found = docker_info.engine(raw)
    return {"version": found.version, "storage": found.storage, "root": found.root}


def checks(raw: Raw, want: Want) -> list[Check]:
    """All answers about Docker but that on names."""
    found = docker_info.engine(raw)
    first = [engine(raw, found)]
    if found.trouble == docker_info.DENIED:
        names = ("docker.storage", "docker.disk")
        silent = [skipped(name, "follows from docker.access") for name in names]
        return [*first, skipped("docker.version", "follows from docker.access"), access(raw, want, found), *silent]
    if found.trouble:
        return first + [skipped(f"docker.{word}", FOLLOWS) for word in ("version", "access", "storage", "disk")]
    return [*first, version(found), access(raw, want, found), storage(found), disk(raw, want, found)]


def engine(raw: Raw, found: Engine) -> Check:
    """Whether there is a Docker Engine that answers."""
    name = "docker.engine"
    if not found.trouble:
        return passed(name, found.version)
    if found.trouble == docker_info.DENIED:
        return skipped(name, "follows from docker.access")
    if found.trouble == docker_info.UNREADABLE:
        return skipped(name, "docker info gave no answer that can be read")
    if found.trouble in _SILENT:
        words, remedy = _SILENT[found.trouble]
        return failed(name, words, "Docker Engine, running", remedy)
    if docker_info.is_broken(raw.text(docker_info.DAEMON_JSON)):
        remedy = f"Mend {docker_info.DAEMON_JSON}, and start Docker with: systemctl start docker."
        return failed(name, f"not running; {docker_info.DAEMON_JSON} is no JSON", "Docker Engine, running", remedy)
    return failed(
        name, "not running", "Docker Engine, running", "Start it with: systemctl enable --now docker.", found.error
    )


def version(found: Engine) -> Check:
    """Whether it is new enough."""
    name = "docker.version"
    if not numbers(found.version):
        return skipped(name, f"{found.version} is no number")
    if numbers(found.version) >= OLDEST:
        return passed(name, found.version)
    return failed(name, found.version, "20.10 or newer", "Update Docker Engine from the distribution's packages.")


def access(raw: Raw, want: Want, found: Engine) -> Check:
    """Whether who looks may ask it. A session keeps the groups that it began with (field fault A01)."""
    name = "docker.access"
    if not found.trouble:
        return passed(name, f"{want.user} is answered")
    group, names = docker_info.members(raw.text(docker_info.GROUPS), docker_info.GROUP)
    wanted = f"{want.user} answered by Docker"
    if group is None:
        remedy = "Run the playbook prepare, or set ansible_become for the host."
        return failed(name, "no group docker", wanted, remedy)
    if group in docker_info.session_groups(raw.text(docker_info.SESSION)):
        remedy = "Set ansible_become for the host, or give the group docker Docker's socket."
        return failed(name, f"{want.user} is in group docker and is refused all the same", wanted, remedy)
    if want.user in names:
        found_words = f"{want.user} is in group docker, but this session is older"
        remedy = "Log in again: end the SSH session of Ansible with meta: reset_connection, or the desktop's session."
        return failed(name, found_words, wanted, remedy)
    remedy = f"Run the playbook prepare, or: usermod -aG docker {want.user}, and log in again."
    return failed(name, f"{want.user} is not in group docker", wanted, remedy)


def storage(found: Engine) -> Check:
    """Whether images and containers share their layers."""
    name = "docker.storage"
    if not found.storage:
        return skipped(name, "docker info names no storage driver")
    if found.storage in SLOW_STORAGE:
        remedy = f"Put {_folder(found)} on ext4 or xfs, and remove storage-driver from {docker_info.DAEMON_JSON}."
        return warned(name, found.storage, "overlay2", remedy, "It copies the whole image for each container.")
    return passed(name, found.storage)


def disk(raw: Raw, want: Want, found: Engine) -> Check:
    """Whether an image, of 20 to 40 GB, still fits where Docker stores."""
    name, words = "docker.disk", raw.output(DISK).out.split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return skipped(name, "free space is not known")
    free, total = int(words[0]), int(words[1])
    shown = f"{free / GB:.0f} GB free of {total / GB:.0f} GB in {_folder(found)}"
    remedy = "Make room, e.g. with: docker image prune --all, which removes the images that no container uses."
    if free < want.disk_fail * GB:
        return failed(name, shown, f"{want.disk_fail} GB free", remedy)
    if free < want.disk_warn * GB:
        return warned(name, shown, f"{want.disk_warn} GB free", remedy)
    return passed(name, shown)


def _folder(found: Engine) -> str:
    return found.root or "Docker's data folder"
