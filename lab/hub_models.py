# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models in the Hugging Face cache of a host's user, as `huggingface_hub` would have left them.

Blobs are named as the hub names them: large files (LFS) by their SHA-256, small ones by their git SHA-1. A model may be
padded to gigabytes; the padding is made on the host itself and is in a folder that no engine reads.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab import hub_padding
from lab.errors import LabError
from lab.hosts import NVIDIA_ID

CACHE = "/home/nvidia/.cache/huggingface/hub"
#: Extensions of files that the hub keeps in LFS.
LARGE = (".safetensors",)
PADDING_SCRIPT = Path(hub_padding.__file__)


def repository(name: str) -> str:
    """Return the folder's name of a model in a cache; raises LabError for what is not ORG/NAME."""
    organization, slash, model = name.partition("/")
    if not slash or not organization or not model or "/" in model:
        raise LabError(f"{name!r} is not the id of a model: wanted ORG/NAME, such as lab/tiny-qwen3.")
    return f"models--{organization}--{model}"


def blob_name(path: str, content: bytes) -> str:
    """Return the name of a file's blob."""
    if path.endswith(LARGE):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by their path in it; the models of a lab are a few MB."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def revision_of(files: Mapping[str, bytes], padding_bytes: int) -> str:
    """Return a commit that stands for the content: the same model has the same one on every host."""
    lines = [f"{path} {blob_name(path, content)}" for path, content in sorted(files.items())]
    text = "\n".join([*lines, f"padding {padding_bytes}"])
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _folder(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.uid, member.gid = tarfile.DIRTYPE, 0o755, NVIDIA_ID, NVIDIA_ID
    return member


def _file(name: str, content: bytes) -> tuple[tarfile.TarInfo, io.BytesIO]:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.uid, member.gid = len(content), 0o644, NVIDIA_ID, NVIDIA_ID
    return member, io.BytesIO(content)


def _link(name: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = tarfile.SYMTYPE, target, 0o777
    member.uid = member.gid = NVIDIA_ID
    return member


def _parents(path: str) -> Iterator[str]:
    """Yield the folders above a path, outermost first."""
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count])


def cache_tar(name: str, files: Mapping[str, bytes], revision: str) -> bytes:
    """Return a tar to be unpacked at / that holds the cache with the model: blobs, a snapshot of links, refs/main."""
    base = f"{CACHE.lstrip('/')}/{repository(name)}"
    snapshot = f"{base}/snapshots/{revision}"
    contents = {f"{base}/refs/main": revision.encode()}
    links: dict[str, str] = {}
    for path, content in files.items():
        blob = blob_name(path, content)
        contents[f"{base}/blobs/{blob}"] = content
        links[f"{snapshot}/{path}"] = "../" * (2 + path.count("/")) + f"blobs/{blob}"
    # The home folder is the host's own.
    folders = {folder for path in [*contents, *links] for folder in _parents(path)} - {"home", "home/nvidia"}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for folder in sorted(folders):
            archive.addfile(_folder(folder))
        for path, content in contents.items():
            archive.addfile(*_file(path, content))
        for path, target in links.items():
            archive.addfile(_link(path, target))
    return stream.getvalue()


def padding_command(name: str, revision: str, padding_bytes: int) -> list[str]:
    """Return the command that reads PADDING_SCRIPT from its input and pads a model that lies in a host's cache."""
    return ["python3", "-", f"{CACHE}/{repository(name)}", revision, str(padding_bytes)]
