# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a Docker image as an uncompressed docker-archive, without a daemon and the same way each time.

`docker load` takes the file. Layers are streamed into it, so that a layer of gigabytes is written once and never held
in memory: the header of a member is put in place after its content, when size and digest are known.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

EPOCH = 1767225600  # 2026-01-01: the one time stamp in our images; not 0, which zip files cannot express
CREATED = "2026-01-01T00:00:00Z"
BLOCK = 512
COPY_BYTES = 1 << 20

#: Writes one layer, itself an uncompressed tar, to the stream it is given.
LayerWriter = Callable[[IO[bytes]], None]


@dataclass(frozen=True)
class ImageConfig:
    """What `docker inspect` shows of an image; `environment` becomes its Env."""

    reference: str
    architecture: str
    environment: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    entrypoint: Sequence[str] = ()
    working_dir: str = "/"


class _DigestingStream(io.RawIOBase):
    """A write-only stream that passes everything on and keeps its SHA-256 and size."""

    def __init__(self, target: IO[bytes]) -> None:
        super().__init__()
        self._target = target
        self._digest = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._target.write(data)
        self._digest.update(data)
        self.size += len(data)
        return len(data)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def copied_layer(tar_file: Path) -> LayerWriter:
    """Return the writer of a layer that lies ready as a tar file."""

    def write(stream: IO[bytes]) -> None:
        with tar_file.open("rb") as source:
            while block := source.read(COPY_BYTES):
                stream.write(block)

    return write


def _member(name: str, path: Path) -> tarfile.TarInfo:
    """Describe one file, folder or link for a layer: owned by root, at a fixed time, with modes free of the umask."""
    member = tarfile.TarInfo(name)
    member.mtime = EPOCH
    if path.is_symlink():
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
    elif path.is_dir():
        member.type, member.mode = tarfile.DIRTYPE, 0o755
    else:
        information = path.stat()
        member.size, member.mode = information.st_size, 0o755 if information.st_mode & 0o100 else 0o644
    return member


def _walk(folder: Path, keep: Callable[[str], bool], prefix: str) -> Iterator[tuple[str, Path]]:
    """Yield (name in the layer, path), sorted; a folder that `keep` refuses is left out with all that is below it."""
    for path in sorted(folder.iterdir()):
        relative = f"{prefix}{path.name}"
        if not keep(relative):
            continue
        yield relative, path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, keep, f"{relative}/")


def tree_layer(trees: Mapping[str, Path], keep: Callable[[str], bool] = lambda relative: True) -> LayerWriter:
    """Return the writer of a layer made of folders and files: `trees` maps a place in the image to what to put there.

    `keep` is asked with each name relative to its tree. Places are without a leading slash; their parent folders must
    be in a lower layer or in `trees`' own places.
    """

    def write(stream: IO[bytes]) -> None:
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT, bufsize=COPY_BYTES) as layer:
            for place, source in sorted(trees.items()):
                entries = [(place, source)]
                if source.is_dir():
                    entries += [(f"{place}/{name}", path) for name, path in _walk(source, keep, "")]
                for name, path in entries:
                    member = _member(name, path)
                    if member.isreg():
                        with path.open("rb") as content:
                            layer.addfile(member, content)
                    else:
                        layer.addfile(member)

    return write


def _header(name: str, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, EPOCH, 0o644
    return member.tobuf(tarfile.GNU_FORMAT)


def _pad(archive: IO[bytes], size: int) -> None:
    archive.write(b"\0" * (-size % BLOCK))


def _append_layer(archive: IO[bytes], write_layer: LayerWriter) -> tuple[str, str]:
    """Append one layer; return (member name, digest)."""
    header_at = archive.tell()
    archive.write(b"\0" * BLOCK)
    content = _DigestingStream(archive)
    write_layer(content)
    _pad(archive, content.size)
    end = archive.tell()
    digest = content.hexdigest()
    name = f"{digest}.tar"
    archive.seek(header_at)
    archive.write(_header(name, content.size))
    archive.seek(end)
    return name, digest


def _append_file(archive: IO[bytes], name: str, content: bytes) -> None:
    archive.write(_header(name, len(content)))
    archive.write(content)
    _pad(archive, len(content))


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def image_json(config: ImageConfig, layer_digests: Sequence[str]) -> bytes:
    """Return the image's configuration as Docker stores it; the SHA-256 of these bytes is the image's id."""
    return _json(
        {
            "architecture": config.architecture,
            "os": "linux",
            "created": CREATED,
            "config": {
                "Env": [f"{name}={value}" for name, value in sorted(config.environment.items())],
                "Entrypoint": list(config.entrypoint) or None,
                "Cmd": None,
                "Labels": dict(config.labels),
                "WorkingDir": config.working_dir,
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in layer_digests]},
            "history": [
                {"created": CREATED, "created_by": f"dgxspark lab layer {digest[:12]}"} for digest in layer_digests
            ],
        }
    )


def write_archive(target: Path, config: ImageConfig, layers: Sequence[LayerWriter]) -> str:
    """Write the image with these layers, lowest first, to `target`; return its id, `sha256:...`."""
    with target.open("wb", buffering=COPY_BYTES) as archive:
        written = [_append_layer(archive, layer) for layer in layers]
        configuration = image_json(config, [digest for _name, digest in written])
        image_id = hashlib.sha256(configuration).hexdigest()
        _append_file(archive, f"{image_id}.json", configuration)
        manifest = [
            {
                "Config": f"{image_id}.json",
                "RepoTags": [config.reference],
                "Layers": [name for name, _digest in written],
            }
        ]
        _append_file(archive, "manifest.json", _json(manifest))
        archive.write(b"\0" * (2 * BLOCK))
    return f"sha256:{image_id}"
