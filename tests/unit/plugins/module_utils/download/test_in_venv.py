# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that downloads, against a library of the same names whose hub is a dictionary."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.download import in_venv

WEIGHTS = bytes(range(256)) * 40
SHA = hashlib.sha256(WEIGHTS).hexdigest()
COMMIT = "c" * 40


class Library:
    """As much of huggingface_hub as is used."""

    def __init__(self, damaged: bool = False, xet: bool = False) -> None:
        self.sent: list[int] = []
        self.snapshots: list[dict[str, Any]] = []
        self.content = WEIGHTS[::-1] if damaged else WEIGHTS
        lfs = SimpleNamespace(sha256=SHA)
        large = SimpleNamespace(path="model.safetensors", size=len(WEIGHTS), blob_id="b1", lfs=lfs)
        large.xet_hash = "x1" if xet else None
        small = SimpleNamespace(path="config.json", size=2, blob_id="b2", lfs=None, xet_hash=None)
        self.api = SimpleNamespace(
            repo_info=lambda model, revision: SimpleNamespace(sha=COMMIT),
            list_repo_tree=lambda model, recursive, revision: [large, small, SimpleNamespace(path="folder")],
        )

    def modules(self) -> dict[str, Any]:
        """What is imported, by name."""
        return {
            "huggingface_hub": SimpleNamespace(
                HfApi=lambda **given: self.api,
                get_token=lambda: None,
                hf_hub_url=lambda model, path, revision, endpoint: path,
                snapshot_download=self.snapshot_download,
            ),
            "huggingface_hub.utils": SimpleNamespace(
                is_xet_available=lambda: True,
                WeakFileLock=contextlib.nullcontext,
                build_hf_headers=lambda token: {},
            ),
            "huggingface_hub.file_download": SimpleNamespace(http_get=self.http_get),
        }

    def http_get(
        self, url: str, stream: IO[bytes], resume_size: int, headers: dict[str, str], expected_size: int
    ) -> None:
        self.sent.append(expected_size - resume_size)
        stream.write(self.content[resume_size:expected_size])

    def snapshot_download(self, model: str, **options: Any) -> str:
        self.snapshots.append(options)
        return f"{options['cache_dir']}/models--acme--tiny/snapshots/{COMMIT}"


def hub(monkeypatch: pytest.MonkeyPatch, root: Path, library: Library) -> in_venv.HuggingFace:
    """The hub, which knows its files."""
    monkeypatch.setattr(in_venv.importlib, "import_module", library.modules().__getitem__)
    question = {"model": "acme/tiny", "revision": "", "token": "", "endpoint": "", "root": str(root), "workers": 2}
    made = in_venv.HuggingFace(question)
    assert made.files() == [
        {"path": "model.safetensors", "size": len(WEIGHTS), "blob": SHA},
        {"path": "config.json", "size": 2, "blob": "b2"},
    ]
    made.blobs.mkdir(parents=True)
    return made


NAMES = ["config.json", "model.safetensors"]


@pytest.mark.parametrize(
    ("left", "sent"),
    [
        ({}, [10240]),
        ({".incomplete": WEIGHTS[:4096]}, [6144]),
        ({".deadbeef.incomplete": WEIGHTS[:4096], ".0badcafe.incomplete": WEIGHTS[:8192]}, [2048]),
        ({".deadbeef.incomplete": b"x" * 4096}, [6144, 10240]),
        ({".incomplete": b"x" * 20000}, [10240]),
        ({"": WEIGHTS}, []),
        ({"": WEIGHTS[:9]}, [10240]),
    ],
)
def test_m08_a_large_file_is_continued_and_ends_right(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, left: dict[str, bytes], sent: list[int]
) -> None:
    library = Library()
    made = hub(monkeypatch, tmp_path, library)
    for ending, content in left.items():
        (made.blobs / f"{SHA}{ending}").write_bytes(content)
    assert made.download(NAMES).endswith(COMMIT)
    assert library.sent == sent
    assert {path.name: path.read_bytes() for path in made.blobs.iterdir()} == {SHA: WEIGHTS}
    assert library.snapshots[0]["allow_patterns"] == NAMES


def test_a_file_that_arrives_otherwise_is_no_blob(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = hub(monkeypatch, tmp_path, Library(damaged=True))
    with pytest.raises(in_venv.HashMismatch, match=r"model\.safetensors"):
        made.download(NAMES)
    assert list(made.blobs.iterdir()) == []


def test_xet_is_left_to_the_library_unless_something_was_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = Library(xet=True)
    made = hub(monkeypatch, tmp_path, library)
    made.download(NAMES)
    assert library.sent == []
    (made.blobs / f"{SHA}.deadbeef.incomplete").write_bytes(WEIGHTS[:240])
    made.download(NAMES)
    assert library.sent == [10000]


def test_patterns_match_names_and_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = Library()
    made = hub(monkeypatch, tmp_path, library)
    made.entries["a[1].json"] = made.entries["config.json"]
    made.download(["a[1].json"])
    assert library.snapshots[0]["allow_patterns"] == ["a[[]1].json"]


def test_an_error_is_told_with_what_it_came_from() -> None:
    answer = SimpleNamespace(status_code=403, headers={"X-Error-Code": "GatedRepo"})
    cause = ValueError("inner")
    cause.response = answer  # type: ignore[attr-defined]
    error = OSError("outer")
    error.__cause__ = cause
    assert in_venv.refusal(error) == {
        "kinds": ["OSError", "ValueError"],
        "status": 403,
        "code": "GatedRepo",
        "text": "outer",
    }


def test_events_are_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(in_venv.sys, "stdout", out)
    in_venv.say("done", path="/a\nb")
    line = out.getvalue()
    assert line.startswith(in_venv.MARK) and line.count("\n") == 1
    assert json.loads(line[len(in_venv.MARK) :]) == {"event": "done", "path": "/a\nb"}
