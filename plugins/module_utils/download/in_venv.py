# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads a model with the hub's own library. Runs in a virtual environment, with its Python, as one file.

The first line on stdin is the question. It says what files there are, and goes on when the next line names those to
download. When stdin ends, so does this: whoever asked is gone. What it says are lines on stdout, begun with MARK.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

MARK = "DGXSPARK-DOWNLOAD "
BLOCK = 1 << 22


class HashMismatch(Exception):
    """A file has another content than the hub says."""


def say(event: str, **words: Any) -> None:
    """One event, whole, for several threads may speak."""
    sys.stdout.write(MARK + json.dumps({"event": event, **words}) + "\n")
    sys.stdout.flush()


def heard() -> dict[str, Any]:
    """The next line on stdin; without one there is nobody left to work for."""
    line = sys.stdin.readline()
    if not line:
        os._exit(3)
    return json.loads(line)


def end_with_asker() -> None:
    """End this process as soon as stdin ends."""
    threading.Thread(target=heard, daemon=True).start()


def sha256(path: Path) -> str:
    """The SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def leftovers(blob: Path) -> list[Path]:
    """What ended downloads of a blob have left, the smallest first."""
    found = [path for path in blob.parent.glob(f"{blob.name}*.incomplete") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_size)


class HuggingFace:
    """The Hugging Face hub; files go into its cache."""

    def __init__(self, question: dict[str, Any]) -> None:
        self.model, self.revision = question["model"], question["revision"] or None
        self.given = {"token": question["token"] or None, "endpoint": question["endpoint"] or None}
        self.root, self.workers = question["root"], question["workers"]
        self.library = importlib.import_module("huggingface_hub")
        self.utils = importlib.import_module("huggingface_hub.utils")
        self.api = self.library.HfApi(**self.given)
        self.blobs = Path(self.root, "models--" + self.model.replace("/", "--"), "blobs")
        self.commit = ""
        self.entries: dict[str, Any] = {}

    def has_token(self) -> bool:
        """Whether requests carry a token: the given one, or one that the user has on this host."""
        return bool(self.given["token"] or self.library.get_token())

    def files(self) -> list[dict[str, Any]]:
        """Path, size and name of the blob of each file."""
        self.commit = self.api.repo_info(self.model, revision=self.revision).sha
        tree = self.api.list_repo_tree(self.model, recursive=True, revision=self.commit)
        self.entries = {entry.path: entry for entry in tree if hasattr(entry, "blob_id")}
        return [{"path": path, "size": one.size, "blob": self.blob(path).name} for path, one in self.entries.items()]

    def blob(self, path: str) -> Path:
        """Where the content of a file lies."""
        entry = self.entries[path]
        return self.blobs / (entry.lfs.sha256 if entry.lfs else entry.blob_id)

    def download(self, wanted: list[str]) -> str:
        """Download files; their folder.

        What an ended download has left is continued here: the library begins each file anew. Xet does without, for
        it has a cache of its own for what it was sent.
        """
        self.blobs.mkdir(parents=True, exist_ok=True)
        for path in wanted:
            # The library takes whatever has the name of a blob for whole.
            if self.blob(path).exists() and self.blob(path).stat().st_size != self.entries[path].size:
                self.blob(path).unlink()
        with ThreadPoolExecutor(max_workers=self.workers) as pool:
            list(pool.map(self.resumed, filter(self.is_resumable, wanted)))
        patterns = [glob.escape(path) for path in wanted]
        where = {"revision": self.revision, "cache_dir": self.root, **self.given}
        folder = self.library.snapshot_download(self.model, allow_patterns=patterns, max_workers=self.workers, **where)
        for path in wanted:
            if self.blob(path).exists():
                for left in leftovers(self.blob(path)):
                    left.unlink(missing_ok=True)
        return folder

    def is_resumable(self, path: str) -> bool:
        """Whether a file is large, not there, and not better left to Xet."""
        entry, blob = self.entries[path], self.blob(path)
        by_xet = getattr(entry, "xet_hash", None) and self.utils.is_xet_available()
        return bool(entry.lfs) and not blob.exists() and (not by_xet or bool(leftovers(blob)))

    def resumed(self, path: str) -> None:
        """Download a file by plain HTTP from where an ended download has stopped, and compare its SHA-256."""
        blob, size = self.blob(path), self.entries[path].size
        lock = Path(self.root, ".locks", self.blobs.parent.name, f"{blob.name}.lock")
        lock.parent.mkdir(parents=True, exist_ok=True)
        part = blob.with_name(f"{blob.name}.incomplete")
        with self.utils.WeakFileLock(lock):
            if blob.exists():
                return
            left = leftovers(blob)
            if left and left[-1] != part:
                left[-1].replace(part)
            begun = part.exists()
            self.fetch(path, part, size)
            if begun and sha256(part) != blob.name:
                part.unlink()
                self.fetch(path, part, size)
                begun = False
            if not begun and sha256(part) != blob.name:
                part.unlink()
                raise HashMismatch(f"hash mismatch of {path}")
            part.replace(blob)

    def fetch(self, path: str, part: Path, size: int) -> None:
        """Add what is missing to a file."""
        files = importlib.import_module("huggingface_hub.file_download")
        url = self.library.hf_hub_url(self.model, path, revision=self.commit, endpoint=self.given["endpoint"])
        with part.open("ab") as stream:
            if stream.tell() > size:
                stream.truncate(stream.seek(0))
            headers = self.utils.build_hf_headers(token=self.given["token"])
            files.http_get(url, stream, resume_size=stream.tell(), headers=headers, expected_size=size)

    def lay(self, wanted: list[str], folder: str) -> None:
        """Download files into a plain folder."""
        for path in wanted:
            self.library.hf_hub_download(self.model, path, revision=self.commit, local_dir=folder, **self.given)


class ModelScope:
    """The ModelScope hub; files go into a plain folder."""

    def __init__(self, question: dict[str, Any]) -> None:
        self.model, self.revision = question["model"], question["revision"] or None
        self.given = {"token": question["token"] or None, "endpoint": question["endpoint"] or None}
        self.root, self.workers = question["root"], question["workers"]
        self.api = importlib.import_module("modelscope.hub.api").HubApi(**self.given)

    def has_token(self) -> bool:
        """Whether a token was given."""
        return bool(self.given["token"])

    def files(self) -> list[dict[str, Any]]:
        """Path and size of each file."""
        found = self.api.get_model_files(self.model, revision=self.revision, recursive=True)
        return [{"path": one["Path"], "size": int(one["Size"] or 0), "blob": ""} for one in found]

    def download(self, wanted: list[str]) -> str:
        """Download files; their folder. The library goes on where it was, and compares hashes."""
        self.lay(wanted, self.root)
        return self.root

    def lay(self, wanted: list[str], folder: str) -> None:
        """Download files into a plain folder."""
        library = importlib.import_module("modelscope.hub.snapshot_download")
        patterns = [glob.escape(path) for path in wanted]
        where = {"revision": self.revision, "local_dir": folder, **self.given}
        library.snapshot_download(self.model, allow_patterns=patterns, max_workers=self.workers, **where)


HUBS = {"huggingface": HuggingFace, "modelscope": ModelScope}


def chain(error: BaseException | None) -> list[BaseException]:
    """An error and what it came from."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def refusal(error: BaseException) -> dict[str, Any]:
    """What is known of an error: class names, and what the hub answered."""
    errors = chain(error)
    kinds = [kind.__name__ for one in errors for kind in type(one).__mro__[:-3]]
    status, code = 0, ""
    for one in errors:
        response = getattr(one, "response", None)
        status = status or getattr(response, "status_code", None) or getattr(one, "status_code", None) or 0
        code = code or getattr(response, "headers", {}).get("X-Error-Code", "")
    text = str(error) if str(error) else type(error).__name__
    return {"kinds": kinds, "status": status, "code": code, "text": text}


def main() -> None:
    question = heard()
    token = bool(question["token"])
    try:
        hub = HUBS[question["hub"]](question)
        token = hub.has_token()
        say("files", files=hub.files(), revision=getattr(hub, "commit", ""))
        wanted = heard()
        end_with_asker()
        if wanted.get("folder"):
            hub.lay(wanted["files"], wanted["folder"])
            say("done", path=wanted["folder"])
        else:
            say("done", path=hub.download(wanted["files"]))
    except Exception as error:
        say("error", token=token, **refusal(error))
    # Threads that still download must not finish first; what they have is continued by the next run.
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
