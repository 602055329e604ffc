# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engine images inside the hosts: a template of a Docker data folder per set of images, and loading into live hosts."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container

from lab.cache import cache_root, cached, content_key, remove
from lab.errors import LabError
from lab.fabric import VOLUMES
from lab.progress import long_step
from lab.rootfs import rootfs_key

TEMPLATE_LABEL = "dgxspark.docker-template"
KIND = "docker-template"
READY_ATTEMPTS = 150
CONFLICT = 409
SEED = "/usr/local/lib/dgxspark-lab/seed_docker"


@dataclass(frozen=True)
class EngineArchive:
    """An engine image as a docker-archive file."""

    reference: str
    image_id: str
    path: Path


def image_id_of(archive: Path) -> str:
    """Return the image id (sha256:...) that `docker load` will give; raises LabError for another kind of file."""
    try:
        with tarfile.open(archive) as stream:
            member = stream.extractfile("manifest.json")
            config = json.load(member)[0]["Config"] if member else ""
    except (tarfile.TarError, KeyError, ValueError) as error:
        raise LabError(f"{archive} is no docker archive ({error}): remove it, so that it is built again.") from error
    # `<digest>.json` from older engines, `blobs/sha256/<digest>` from newer ones.
    return "sha256:" + config.rpartition("/")[2].removesuffix(".json")


def template_key(rootfs: str, archives: Sequence[EngineArchive]) -> str:
    """Return the key of a data folder with these images, written by the Docker of a root file system."""
    return content_key(rootfs, *(f"{archive.reference} {archive.image_id}" for archive in sorted(archives, key=str)))


def template_volume(key: str) -> str:
    """Return the name of a template's volume."""
    return f"dgxspark-template-{key}"


def _load_in(container: Container, archives: Sequence[EngineArchive]) -> None:
    """Load archives, mounted as /archives/N.tar, into the Docker of a running container."""
    for number in range(READY_ATTEMPTS):
        if container.exec_run(["docker", "version"])[0] == 0:
            break
        if number == READY_ATTEMPTS - 1:
            raise LabError(f"Docker does not start in a new host: {container.logs(tail=5).decode(errors='replace')}")
    for number in range(len(archives)):
        code, output = container.exec_run(["docker", "load", "--quiet", "--input", f"/archives/{number}.tar"])
        if code != 0:
            raise LabError(f"{archives[number].path} does not load: {output.decode(errors='replace').strip()}")


def remove_templates(client: docker.DockerClient, names: str) -> None:
    """Remove the templates of a set of images (names without tags, joined by commas), whatever their version."""
    for volume in client.volumes.list(filters={"label": f"{TEMPLATE_LABEL}={names}"}):
        try:
            volume.remove(force=True)
        except APIError as error:
            if error.status_code != CONFLICT:
                raise
            continue  # hosts of another run are being filled from it: it goes with the next version
        remove(cache_root() / KIND / volume.name.removeprefix(template_volume("")))


def _make_template(client: docker.DockerClient, image: str, key: str, archives: Sequence[EngineArchive]) -> None:
    """Fill a fresh volume: a Docker starts on it, loads the images and stops cleanly."""
    name = template_volume(key)
    names = ",".join(sorted(archive.reference.partition(":")[0] for archive in archives))
    for container in client.containers.list(all=True, filters={"label": f"{TEMPLATE_LABEL}={key}"}):
        container.remove(force=True)  # a builder that was killed; the cache's lock is ours
    remove_templates(client, names)  # of the same images in another version: of no use any more
    client.volumes.create(name, labels={TEMPLATE_LABEL: names})
    volumes = {name: {"bind": "/var/lib/docker", "mode": "rw"}}
    for number, archive in enumerate(archives):
        volumes[str(archive.path)] = {"bind": f"/archives/{number}.tar", "mode": "ro"}
    container = client.containers.run(
        image,
        ["dockerd"],
        labels={TEMPLATE_LABEL: key},
        detach=True,
        init=True,
        privileged=True,
        cgroupns="private",
        network_mode="none",
        tmpfs={"/run": "exec,mode=755"},
        stop_signal="SIGTERM",
        volumes=volumes,
    )
    try:
        _load_in(container, archives)
        container.stop(timeout=60)
    finally:
        container.remove(force=True)


def ensure_template(client: docker.DockerClient, image: str, archives: Sequence[EngineArchive]) -> str:
    """Return the volume whose content a new host's Docker starts from, making it if needed."""
    key = template_key(rootfs_key(), archives)
    name = template_volume(key)
    record = cache_root() / KIND / key
    try:
        client.volumes.get(name)
    except NotFound:
        remove(record)  # another engine, or one whose data was removed

    def build(target: Path) -> None:
        with long_step("loading the engine images into a template of the hosts' Docker"):
            _make_template(client, image, key, archives)
        target.write_text(name + "\n", encoding="utf-8")

    cached(KIND, key, build)
    return name


def seed_volumes(helper: Container, template: str, volumes: Sequence[str]) -> None:
    """Fill new volumes from a template: hard links for the layers, real copies for what Docker writes to.

    `helper` is a running container that sees the engine's volumes: a container made for this alone takes up to 20 s to
    go away on a busy disk.
    """
    code, output = helper.exec_run([SEED, *(f"{VOLUMES}/{name}/_data" for name in (template, *volumes))])
    if code != 0:
        raise LabError(
            f"The hosts' Docker could not be filled from {template}: {output.decode(errors='replace').strip()}"
        )
