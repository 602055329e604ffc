# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host image `dgxspark-lab/spark`: root file system plus host_image/, tagged by the content of both."""

from __future__ import annotations

import io
import tarfile
import threading
from pathlib import Path

import docker
from docker.errors import BuildError, ImageNotFound

from lab.cache import cache_root, content_key, file_lock
from lab.errors import LabError
from lab.programs import HOST_IMAGE, INTERPRETER, program_text
from lab.progress import long_step
from lab.rootfs import rootfs, rootfs_key

REPOSITORY = "dgxspark-lab/spark"
ROOTFS_REPOSITORY = "dgxspark-lab/rootfs"
PROGRAMS = (
    "apt_index",
    "nvidia_ctk",
    "nvidia_hook",
    "nvidia_smi",
    "runc_wrap",
    "seed_docker",
    "spark_init",
    "uname",
)
PLAIN_FILES = (
    "Dockerfile",
    "NetworkManager.conf",
    "daemon.json",
    "fake_arch.pth",
    "fake_arch.py",
    "network.service.conf",
    "nvidia-container-toolkit.control",
    "ssh.service.conf",
    "sshd.conf",
    "systemd-sysctl.service.conf",
)
_IN_THIS_PROCESS = threading.Lock()


def image_reference() -> str:
    """Return the image's reference, whose tag is the hash of everything in it."""
    inputs: list[Path | str] = [HOST_IMAGE / name for name in PLAIN_FILES]
    inputs += [HOST_IMAGE / f"{name}.py" for name in PROGRAMS]
    return f"{REPOSITORY}:{content_key(rootfs_key(), INTERPRETER, *inputs)}"


def _build_context() -> io.BytesIO:
    """Return the build context: plain files as they are, programs with their interpreter line."""
    files = {name: ((HOST_IMAGE / name).read_bytes(), 0o644) for name in PLAIN_FILES}
    files |= {f"programs/{name}": (program_text(name), 0o755) for name in PROGRAMS}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, (content, mode) in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            archive.addfile(member, io.BytesIO(content))
    stream.seek(0)
    return stream


def _has(client: docker.DockerClient, reference: str) -> bool:
    """Say whether the engine holds an image."""
    try:
        client.images.get(reference)
    except ImageNotFound:
        return False
    return True


def ensure_image(client: docker.DockerClient) -> str:
    """Return the reference of the host image, after making it if the engine has not got it."""
    reference = image_reference()
    with _IN_THIS_PROCESS, file_lock(cache_root() / ".spark-image.lock"):
        if _has(client, reference):
            return reference
        base = f"{ROOTFS_REPOSITORY}:{rootfs_key()}"
        if not _has(client, base):
            archive = rootfs()
            with long_step("importing the root file system of the hosts"):
                client.api.import_image(src=str(archive), repository=ROOTFS_REPOSITORY, tag=rootfs_key())
        with long_step(f"building {reference}"):
            try:
                client.images.build(
                    fileobj=_build_context(), custom_context=True, tag=reference, buildargs={"ROOTFS": base}, rm=True
                )
            except BuildError as error:
                raise LabError(f"The host image does not build: {error}") from error
    return reference
