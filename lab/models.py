# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models in the hosts: folders below /srv/models, owned by nvidia, readable by all."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from docker.errors import NotFound
from docker.models.containers import Container

from lab.cache import content_key
from lab.hosts import NVIDIA_ID

MODELS = "/srv/models"
RECORDS = "/etc/dgxspark-lab"


def _member(name: str, path: Path) -> tarfile.TarInfo:
    """Return a file's or folder's tar entry, with the owner and mode that every model has."""
    member = tarfile.TarInfo(name)
    member.uid = member.gid = NVIDIA_ID
    member.mtime = int(path.stat().st_mtime)
    if path.is_dir():
        member.type, member.mode = tarfile.DIRTYPE, 0o755
    else:
        member.type, member.mode, member.size = tarfile.REGTYPE, 0o644, path.stat().st_size
    return member


def models_tar(models: Mapping[str, Path]) -> bytes:
    """Return folders as a tar of name/... with links resolved; the models of a lab are a few MB."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, folder in models.items():
            archive.addfile(_member(name, folder))
            for path in sorted(folder.rglob("*")):
                member = _member(f"{name}/{path.relative_to(folder).as_posix()}", path)
                if path.is_dir():
                    archive.addfile(member)
                else:
                    with path.open("rb") as data:
                        archive.addfile(member, data)
    return stream.getvalue()


def lay_models(container: Container, models: Mapping[str, Path]) -> None:
    """Put the models into a host, those left out that this lab laid there before with the same content."""
    missing: dict[str, Path] = {}
    records: dict[str, bytes] = {}
    for name, folder in models.items():
        record = f"model-{name}-{content_key(folder)}"
        try:
            container.get_archive(f"{RECORDS}/{record}")
        except NotFound:
            missing[name], records[record] = folder, b""
    if not missing:
        return
    container.put_archive(MODELS, models_tar(missing))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for record in records:
            archive.addfile(tarfile.TarInfo(record))
    container.put_archive(RECORDS, stream.getvalue())
