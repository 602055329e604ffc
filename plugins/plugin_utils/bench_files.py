# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run's folder of results on the controller: its rounds are read, its report is written. An edge."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.reading import read
from ansible_collections.dgxspark.serving.plugins.module_utils.disk import free
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size

ROUNDS = "rounds"
_ROUND = ".json.gz"


def rounds_in(folder: Path) -> list[dict[str, Any]]:
    """The rounds of a run in their order; none when nothing was measured yet.

    :raises ConfigurationError: naming each file that cannot be read
    """
    rounds, faults = [], []
    for path in sorted(folder.glob(f"*{_ROUND}")):
        try:
            one = json.loads(gzip.decompress(path.read_bytes()))
            rounds.append({**one, "id": str(one["id"]), "point": str(one["point"])})
        except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
            remedy = "Remove the file and run the benchmark again: this round alone is then measured anew"
            faults.append(Fault(str(path), f"{error or type(error).__name__}", "a round as it was written", remedy))
    if faults:
        raise ConfigurationError(faults)
    return rounds


def result_in(path: Path) -> dict[str, Any]:
    """The result of another run, given as its file or its folder.

    :raises ConfigurationError: when there is none, or it is none that can be read
    """
    file = path / "result.json" if path.is_dir() else path
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not a text file"
        fault = Fault(str(file), why, "the result.json of an earlier run", "Give its path, or that of its folder")
        raise ConfigurationError([fault]) from error
    return read(text, str(file))


def snapshots_of(folder: Path, run_id: str) -> dict[str, Any]:
    """By host, what a report in this folder has kept of the hosts; nothing when it has none, or one of another run."""
    with contextlib.suppress(ConfigurationError):
        result = result_in(folder)
        if run_id and result["run"]["id"] == run_id:
            return dict(result["snapshots"])
    return {}


def write_all(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write all files or none: what is there already stays as it is until each new one is on the disk.

    :raises ConfigurationError: when the file system does not take one of them
    """
    parts = {folder / name: folder / f".{name}.part" for name in contents}
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, part in parts.items():
            with part.open("wb") as stream:
                stream.write(contents[path.name])
                stream.flush()
                os.fsync(stream.fileno())
        for path, part in parts.items():
            part.replace(path)
    except OSError as error:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        raise ConfigurationError([_not_written(path, folder, contents, error)]) from error


def _not_written(path: Path, folder: Path, contents: Mapping[str, bytes], error: OSError) -> Fault:
    with contextlib.suppress(OSError):
        room = free(str(folder))
        found = f"{error.strerror or error}" + ("" if room is None else f", {size(room)} free")
        wanted = f"room for {size(sum(map(len, contents.values())))} and the right to write"
        remedy = "Make room or correct the folder, and run the benchmark again: the rounds are kept"
        return Fault(str(path), found, wanted, remedy)
    return Fault(str(path), str(error), "a folder that can be written", "Correct the folder")


def collection_version() -> str:
    """The version of this collection, as it was installed or as the checkout says."""
    root = Path(__file__).resolve().parents[2]
    with contextlib.suppress(OSError, ValueError, KeyError):
        return str(json.loads((root / "MANIFEST.json").read_text("utf-8"))["collection_info"]["version"])
    with contextlib.suppress(OSError, yaml.YAMLError, KeyError, TypeError):
        return str(yaml.safe_load((root / "galaxy.yml").read_text("utf-8"))["version"])
    return "unknown"
