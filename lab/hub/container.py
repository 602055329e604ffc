# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hub's container: on the lab's management network, so that its hosts reach it and nothing else does."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import docker
from docker.errors import NotFound
from docker.models.containers import Container

from lab.errors import LabError
from lab.hub import server
from lab.names import LAB_LABEL, hub_container, network_name

FOLDER = "/srv/hub"
PORT = 8080
NAME = "hub"
URL = f"http://{NAME}:{PORT}"
# Where hosts find their Python packages: `pip install --no-index --find-links`.
WHEELS = "/opt/dgxspark-lab/wheels"


def put(container: Container, folder: str, files: Mapping[str, Path | bytes]) -> None:
    """Write files, readable by all, into a container; folders are made."""
    with tempfile.TemporaryFile() as stream:
        with tarfile.open(fileobj=stream, mode="w") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(f"{folder.lstrip('/')}/{name}")
                member.mode = 0o644
                _add(archive, member, content)
        stream.seek(0)
        container.put_archive("/", stream)


def _add(archive: tarfile.TarFile, member: tarfile.TarInfo, content: Path | bytes) -> None:
    if isinstance(content, bytes):
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
        return
    data: IO[bytes]
    with content.open("rb") as data:
        member.size, member.mtime = content.stat().st_size, int(content.stat().st_mtime)
        archive.addfile(member, data)


class Hub:
    """The hub of one lab, which must be up."""

    url = URL

    def __init__(self, client: docker.DockerClient, lab: str) -> None:
        self._client = client
        self._lab = lab

    def up(self, image: str) -> None:
        """Have it running, from the host image."""
        try:
            container = self._client.containers.get(hub_container(self._lab))
        except NotFound:
            container = self._create(image)
        container.start()

    def _create(self, image: str) -> Container:
        network = network_name(self._lab)
        made = self._client.api.create_container(
            image,
            command=["/usr/bin/python3", f"{FOLDER}/server.py", FOLDER, str(PORT)],
            name=hub_container(self._lab),
            hostname=NAME,
            labels={LAB_LABEL: self._lab},
            stop_signal="SIGKILL",
            host_config=self._client.api.create_host_config(network_mode=network),
            networking_config=self._client.api.create_networking_config(
                {network: self._client.api.create_endpoint_config(aliases=[NAME])}
            ),
        )
        container = self._client.containers.get(made["Id"])
        put(container, FOLDER, {"server.py": Path(server.__file__)})
        return container

    def _container(self) -> Container:
        try:
            return self._client.containers.get(hub_container(self._lab))
        except NotFound:
            raise LabError(f"Lab '{self._lab}' has no hub: `python -m lab hub up --name {self._lab}`.") from None

    def down(self) -> None:
        """Remove it; one that is not there is fine."""
        try:
            self._client.containers.get(hub_container(self._lab)).remove(force=True)
        except NotFound:
            return

    def add(self, name: str, folder: Path) -> None:
        """Have a model, ORG/NAME, with the files of a folder."""
        files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        put(self._container(), f"{FOLDER}/models/{name}", files)

    def behave(self, **behaviour: Any) -> None:
        """Misbehave from the next request on, as server.py says; without words, behave."""
        put(self._container(), FOLDER, {"behaviour.json": json.dumps(behaviour).encode()})

    def requests(self) -> list[str]:
        """Return what it was asked, a line for each request."""
        return self._container().logs(stdout=True, stderr=False).decode().splitlines()


def lay_wheels(container: Container, folder: Path) -> None:
    """Put Python packages into a host, unless it has them."""
    mark = f".{folder.name}"
    if container.exec_run(["test", "-e", f"{WHEELS}/{mark}"]).exit_code != 0:
        put(container, WHEELS, {path.name: path for path in sorted(folder.iterdir())})
        put(container, WHEELS, {mark: b""})
