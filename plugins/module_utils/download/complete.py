# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Complete a model on this host with small files of its base: an edge, it writes files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import Progress, WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.download import completion, refusal
from ansible_collections.dgxspark.serving.plugins.module_utils.download.work import Wanted


def lacking(folder: str) -> list[str]:
    """Small files that the model in a folder lacks.

    :raises OSError: its config cannot be read
    """
    names = os.listdir(folder)
    config = _read(Path(folder, "config.json"))
    tokenizer = _read(Path(folder, "tokenizer_config.json")) if "tokenizer_config.json" in names else {}
    return completion.lacking(config, tokenizer, names)


def complete(folder: str, names: Sequence[str], base: Wanted, progress: Progress) -> dict[str, Any]:
    """Bring those of some files that the base has into a model's folder, and note beside it which came.

    :param base: the base, by id, or by the absolute path of its folder on this host
    :raises WorkFailed: it cannot be read, or has none of them
    """
    progress.tell(0, 0, f"asking {base.asked.model}")
    target = Path(folder)
    try:
        with tempfile.TemporaryDirectory(prefix=".dgxspark-serving.", dir=target.parent) as temporary:
            found = (
                _copied(base, names, temporary) if base.asked.model.startswith("/") else _sent(base, names, temporary)
            )
            if not found:
                raise WorkFailed(f"{base.asked.model} has none of {', '.join(names)}: set model_base to another model.")
            for name in found:
                _lay(Path(temporary, name), target / name)
            _note(target, base.asked.model, found)
    except OSError as error:
        raise WorkFailed(f"{folder} cannot be completed from {base.asked.model}: {error}.") from error
    return {"folder": folder, "completed": found}


def _copied(base: Wanted, names: Sequence[str], temporary: str) -> list[str]:
    """Files of a base that lies on this host."""
    there = set(os.listdir(base.asked.model))
    found = [name for name in names if name in there]
    for name in found:
        shutil.copyfile(Path(base.asked.model, name), Path(temporary, name))
    return found


def _sent(base: Wanted, names: Sequence[str], temporary: str) -> list[str]:
    """Files of a base that its hub sends.

    :raises WorkFailed: the hub does not
    """
    driver = base.driver()
    found: list[str] = []
    said: dict[str, Any] = {}
    began = False
    try:
        for event in driver.events():
            said = event or said
            if event and event["event"] == "files":
                began = True
                there = {one["path"] for one in event["files"]}
                found = [name for name in names if name in there]
                if not found:
                    return []
                driver.tell({"files": found, "folder": temporary})
    finally:
        driver.close()
    if said["event"] == "error":
        sentence = refusal.sentence(base.asked, {**said, "began": began})
        raise WorkFailed(refusal.masked(sentence, base.token))
    return found


def _lay(file: Path, target: Path) -> None:
    """Give a file its name: in a snapshot of the Hugging Face cache as a link to a blob, like its neighbours."""
    snapshots = target.parent.parent
    file.chmod(0o644)
    if snapshots.name != "snapshots" or not snapshots.parent.name.startswith("models--"):
        file.replace(target)
        return
    blob = snapshots.parent / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
    blob.parent.mkdir(exist_ok=True)
    file.replace(blob)
    target.symlink_to(os.path.relpath(blob, target.parent))


def _note(folder: Path, base: str, found: Sequence[str]) -> None:
    """Note beside the model which of its files are the base's: its hub does not know them."""
    if folder.parent.name == "snapshots":
        note = folder.parent.parent / ".dgxspark-serving" / f"{folder.name}.completed.json"
    else:
        note = folder.parent / f".dgxspark-serving.{folder.name}.completed.json"
    note.parent.mkdir(exist_ok=True)
    before = _read(note)["files"] if note.exists() else {}
    text = json.dumps({"files": {**before, **dict.fromkeys(found, base)}}, indent=2, sort_keys=True)
    note.write_text(text + "\n", encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    """:raises OSError: it cannot be read, or is no JSON object"""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise OSError(f"{path} is not a JSON object") from error
