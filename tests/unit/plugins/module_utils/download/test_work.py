# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A download from its start to its end, with a program that says what a test wants to hear."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.download import client, in_venv, room, work
from ansible_collections.dgxspark.serving.plugins.module_utils.download.refusal import Asked

FILES = [
    {"path": "config.json", "size": 2, "blob": "b1"},
    {"path": "model.safetensors", "size": 1000, "blob": "b2"},
    {"path": "copy.safetensors", "size": 1000, "blob": "b2"},
    {"path": "pytorch_model.bin", "size": 1000, "blob": "b3"},
]
LOST = {"event": "error", "kinds": ["ReadError", "NetworkError"], "status": 0, "code": "", "text": "", "token": False}

# Says what there is, writes down what it is told, does as much as this attempt may, and ends as this attempt does.
PROGRAM = """
import json, sys
from pathlib import Path
root = Path({root!r})
question = json.loads(sys.stdin.readline())
(root / "question").write_text(json.dumps(question))
attempts = json.loads((root / "attempts").read_text())
now = attempts.pop(0)
(root / "attempts").write_text(json.dumps(attempts))
def say(event):
    print({mark!r} + json.dumps(event), flush=True)
print("noise of a library")
say({{"event": "files", "files": now["files"], "revision": "c0ffee"}})
(root / "wanted").write_text(sys.stdin.readline())
blobs = root / "hub/models--acme--tiny/blobs"
blobs.mkdir(parents=True, exist_ok=True)
for name, size in now["writes"].items():
    (blobs / name).write_bytes(b"x" * size)
if now["end"]:
    say(now["end"])
"""


class Seen:
    """Progress that is remembered."""

    def __init__(self) -> None:
        self.last: tuple[int, int, str] = (0, 0, "")

    def tell(self, done: int, total: int, text: str = "") -> None:
        self.last = (done, total, text)


def attempt(writes: dict[str, int], end: dict[str, Any] | None, files: Any = None) -> dict[str, Any]:
    """What the program does in one run."""
    return {"files": FILES if files is None else files, "writes": writes, "end": end}


def run(monkeypatch: pytest.MonkeyPatch, root: Path, *attempts: dict[str, Any], progress: Seen | None = None) -> Any:
    """Download, by runs of the program that are given."""
    (root / "bin").mkdir(exist_ok=True)
    if not (root / "bin/python3").exists():
        (root / "bin/python3").symlink_to(sys.executable)
    (root / "attempts").write_text(json.dumps(attempts), encoding="utf-8")
    monkeypatch.setattr(client, "source", lambda: PROGRAM.format(root=str(root), mark=in_venv.MARK))
    monkeypatch.setattr(work, "PAUSE", 0.0)
    monkeypatch.setattr(room, "RESERVE", 0)
    wanted = work.Wanted(Asked("acme/tiny", "huggingface"), str(root / "hub"), "hf_SECRETSECRET", str(root), 8)
    return work.download(wanted, progress or Seen())  # type: ignore[arg-type]


DONE = {"event": "done", "path": "/hub/snapshot"}


def test_what_is_missing_is_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = Seen()
    result = run(monkeypatch, tmp_path, attempt({"b1": 2, "b2": 1000}, DONE), progress=seen)
    assert result == {
        "changed": True,
        "downloaded": 1002,
        "size": 1002,
        "notes": [],
        "revision": "c0ffee",
        "folder": "/hub/snapshot",
    }
    assert seen.last == (1002, 1002, "")
    told = json.loads((tmp_path / "wanted").read_text(encoding="utf-8"))
    assert told == {"files": ["config.json", "copy.safetensors", "model.safetensors"]}
    question = json.loads((tmp_path / "question").read_text(encoding="utf-8"))
    assert question["token"] == "hf_SECRETSECRET" and question["root"] == str(tmp_path / "hub")


def test_what_is_there_counts_and_is_no_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    repository = tmp_path / "hub/models--acme--tiny"
    snapshot = repository / "snapshots/c0ffee"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "blobs/b1").write_bytes(b"{}")
    (repository / "blobs/b2.deadbeef.incomplete").write_bytes(b"x" * 400)
    half = run(monkeypatch, tmp_path, attempt({"b2": 1000}, DONE))
    assert (half["changed"], half["downloaded"]) == (True, 600)
    for name in ("config.json", "copy.safetensors", "model.safetensors"):
        (snapshot / name).write_bytes(b"")
    whole = run(monkeypatch, tmp_path, attempt({}, DONE))
    assert (whole["changed"], whole["downloaded"]) == (False, 0)


def test_a_lost_connection_is_tried_again_while_something_comes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = attempt({"b1": 2, "b2.incomplete": 300}, LOST)
    assert run(monkeypatch, tmp_path, first, attempt({"b2": 1000}, DONE))["folder"] == "/hub/snapshot"


def test_a_connection_that_is_lost_at_once_again_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lost = attempt({"b1": 2}, LOST)
    with pytest.raises(WorkFailed, match="^The connection to Hugging Face broke off while acme/tiny was downloaded"):
        run(monkeypatch, tmp_path, lost, lost, attempt({"b2": 1000}, DONE))


def test_a_program_that_is_killed_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(WorkFailed, match="the program that downloads ended with 0 and no word"):
        run(monkeypatch, tmp_path, attempt({}, None))


def test_a_repository_without_safetensors_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = [{"path": "tiny.gguf", "size": 5, "blob": "b9"}]
    with pytest.raises(WorkFailed) as caught:
        run(monkeypatch, tmp_path, attempt({}, DONE, files))
    assert str(caught.value) == (
        "acme/tiny has no *.safetensors, found 1 *.gguf: set serving_model to a repository with weights in safetensors."
    )


def test_m08_a_disk_that_is_too_small_is_found_before_the_first_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = [{"path": "model.safetensors", "size": 10**18, "blob": "b2"}]
    with pytest.raises(WorkFailed, match=r"^acme/tiny needs 1000000000\.0 GB more and 0 kB to spare, found "):
        run(monkeypatch, tmp_path, attempt({"b2": 5}, DONE, files))
    assert not (tmp_path / "wanted").exists()


def test_tools_that_are_not_there_are_named(tmp_path: Path) -> None:
    wanted = work.Wanted(Asked("acme/tiny", "huggingface"), "/hub", "", str(tmp_path), 8)
    with pytest.raises(WorkFailed) as caught:
        work.download(wanted, Seen())  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"{tmp_path}/bin/python3 cannot be run: No such file or directory. Run the role model, which installs what"
        " downloads models."
    )


@pytest.mark.parametrize(
    ("own", "endpoint", "xet"),
    [
        ({}, "", False),
        ({"HF_ENDPOINT": "https://huggingface.co/"}, "", False),
        ({"HF_ENDPOINT": "http://mirror.example"}, "", True),
        ({}, "http://mirror.example", True),
    ],
)
def test_a_mirror_is_asked_without_xet(own: dict[str, str], endpoint: str, xet: bool) -> None:
    assert ("HF_HUB_DISABLE_XET" in client.environment(own, endpoint)) is xet


def test_the_network_is_on_and_nothing_is_reported() -> None:
    made = client.environment({"HOME": "/home/dev", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}, "")
    assert made["HOME"] == "/home/dev" and made["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert not {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} & set(made)


def test_the_program_is_the_one_file() -> None:
    assert client.source().rstrip().endswith("main()")
