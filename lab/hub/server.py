# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers like the Hugging Face hub and like ModelScope, as far as their clients ask to download a model.

Models are folders ORG/NAME below FOLDER/models. FOLDER/behaviour.json, read for each request, makes it misbehave:
``gated`` ({model: tokens that may read it}), ``valid`` (other tokens that are valid), ``rate`` (bytes per second and
connection), ``cut`` (bytes after which a connection ends). Usage: server.py FOLDER PORT
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

BLOCK = 1 << 16
# Files of these kinds are kept by content, and named by SHA-256, as with Git LFS.
LARGE = (".safetensors", ".bin", ".gguf")
BRANCHES = ("main", "master")
_ID = r"(?P<model>[^/]+/[^/]+)"
INFO = re.compile(rf"/api/models/{_ID}(?:/revision/(?P<revision>[^/]+))?")
TREE = re.compile(rf"/api/models/{_ID}/tree/(?P<revision>[^/]+)(?:/.*)?")
RESOLVE = re.compile(rf"/{_ID}/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
SCOPE = re.compile(rf"/api/v1/models/{_ID}(?P<what>/repo/files|/repo|/revisions)?")
RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class Refused(Exception):
    """A request that gets no: status, code in X-Error-Code, words."""


@lru_cache(maxsize=4096)
def digests(path: Path, _changed: int) -> tuple[str, str]:
    """SHA-256 of a file, and its name as a Git blob."""
    whole, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            whole.update(block)
            blob.update(block)
    return whole.hexdigest(), blob.hexdigest()


class Model:
    """A model on the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        listing = [f"{name} {self.sha256(name)}" for name in self.files]
        self.commit = hashlib.sha1("\n".join(listing).encode()).hexdigest()

    def sha256(self, name: str) -> str:
        """The SHA-256 of a file."""
        path = self.files[name]
        return digests(path, path.stat().st_mtime_ns)[0]

    def blob(self, name: str) -> str:
        """A file's name as a Git blob."""
        path = self.files[name]
        return digests(path, path.stat().st_mtime_ns)[1]

    def entry(self, name: str) -> dict[str, Any]:
        """A file as the Hugging Face hub lists it."""
        size = self.files[name].stat().st_size
        entry: dict[str, Any] = {"type": "file", "path": name, "size": size, "oid": self.blob(name)}
        if name.endswith(LARGE):
            entry["lfs"] = {"oid": self.sha256(name), "size": size, "pointerSize": 134}
        return entry

    def etag(self, name: str) -> str:
        """What the hub calls a file's content."""
        return self.sha256(name) if name.endswith(LARGE) else self.blob(name)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    root = Path()

    def do_HEAD(self) -> None:
        """The same without content."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer, or refuse."""
        self.behaviour = self._behaviour()
        url = urlsplit(self.path)
        path, query = unquote(url.path), {name: values[0] for name, values in parse_qs(url.query).items()}
        try:
            if found := SCOPE.fullmatch(path):
                self._scope(self._model(found["model"]), found["what"] or "", query)
            elif found := INFO.fullmatch(path):
                model = self._model(found["model"], found["revision"])
                names = [{"rfilename": name} for name in model.files]
                self._json({"id": found["model"], "sha": model.commit, "siblings": names, "tags": []})
            elif found := TREE.fullmatch(path):
                model = self._model(found["model"], found["revision"])
                self._json([model.entry(name) for name in model.files])
            elif found := RESOLVE.fullmatch(path):
                model = self._model(found["model"], found["revision"])
                self._file(model, found["path"])
            else:
                raise Refused(404, "", f"no {path}")
        except Refused as refused:
            status, code, words = refused.args
            headers = {"X-Error-Code": code, "X-Error-Message": words} if code or words else {}
            self._json({"error": words, "Code": status, "Message": words, "Success": False}, status, headers)

    def _behaviour(self) -> dict[str, Any]:
        try:
            return dict(json.loads((self.root / "behaviour.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}

    def _model(self, name: str, revision: str | None = None) -> Model:
        """A model that whoever asks may read.

        :raises Refused: there is none, or not for this token
        """
        token = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        gated, valid = self.behaviour.get("gated", {}), set(self.behaviour.get("valid", []))
        if token and token not in valid.union(*gated.values()):
            raise Refused(401, "", "Invalid credentials in Authorization header")
        folder = self.root / "models" / name
        if not folder.is_dir():
            raise Refused(404 if token else 401, "RepoNotFound", "Repository not found")
        if name in gated and not token:
            raise Refused(401, "GatedRepo", f"Access to model {name} is restricted. Please log in.")
        if name in gated and token not in gated[name]:
            raise Refused(403, "GatedRepo", f"Access to model {name} is restricted and you are not authorized.")
        model = Model(folder)
        if revision not in (None, model.commit, *BRANCHES):
            raise Refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return model

    def _scope(self, model: Model, what: str, query: dict[str, str]) -> None:
        """Answer like ModelScope."""
        if query.get("Revision", "master") not in (model.commit, *BRANCHES):
            raise Refused(404, "", "revision not found")
        if what == "/repo":
            self._file(model, query.get("FilePath", ""))
            return
        files = [
            {"Path": name, "Name": name, "Type": "blob", "Size": path.stat().st_size, "Sha256": model.sha256(name)}
            for name, path in model.files.items()
        ]
        data = {"Files": files} if what == "/repo/files" else {"Path": model.folder.name, "Name": model.folder.name}
        self._json({"Code": 200, "Success": True, "Message": "", "Data": data})

    def _file(self, model: Model, name: str) -> None:
        """Send a file, or the part of it that is asked for, as slowly and as far as the behaviour says."""
        if name not in model.files:
            raise Refused(404, "EntryNotFound", "Entry not found")
        size = model.files[name].stat().st_size
        asked = RANGE.fullmatch(self.headers.get("Range", ""))
        first = int(asked[1]) if asked else 0
        last = min(int(asked[2]), size - 1) if asked and asked[2] else size - 1
        self.send_response(HTTPStatus.PARTIAL_CONTENT if asked else HTTPStatus.OK)
        etag = f'"{model.etag(name)}"'
        headers = {"ETag": etag, "X-Linked-Etag": etag, "X-Linked-Size": str(size), "X-Repo-Commit": model.commit}
        headers |= {"Accept-Ranges": "bytes", "Content-Length": str(last - first + 1)}
        if asked:
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self._content(model.files[name], first, last - first + 1)

    def _content(self, path: Path, first: int, left: int) -> None:
        rate, cut = self.behaviour.get("rate", 0), self.behaviour.get("cut", 0)
        sent = 0
        with path.open("rb") as stream:
            stream.seek(first)
            while left > sent and (block := stream.read(min(BLOCK, left - sent))):
                if cut and sent + len(block) > cut:
                    self.close_connection = True
                    return
                self.wfile.write(block)
                sent += len(block)
                if rate:
                    time.sleep(len(block) / rate)

    def _json(self, answer: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, _format: str, *_words: Any) -> None:
        """One line for each request: method, path, and which part of a file."""
        sys.stdout.write(f"{self.command} {self.path} {self.headers.get('Range', '')}".rstrip() + "\n")
        sys.stdout.flush()


def serve(folder: Path, port: int, host: str = "0.0.0.0") -> ThreadingHTTPServer:
    """Return the server, bound; with port 0 the system chooses one."""
    return ThreadingHTTPServer((host, port), type("FolderHandler", (Handler,), {"root": folder}))


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2])).serve_forever()
