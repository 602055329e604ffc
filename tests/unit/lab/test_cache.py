# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache: keys follow content, entries appear whole, builders of one entry take turns."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lab.cache import cache_root, cached, content_key


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty cache."""
    root = tmp_path / "cache"
    monkeypatch.setenv("DGXSPARK_CACHE", str(root))
    return root


def test_root_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_root() == tmp_path / "cache"
    monkeypatch.delenv("DGXSPARK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_root() == tmp_path / "xdg" / "dgxspark-serving"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_root() == tmp_path / "home" / ".cache" / "dgxspark-serving"


def make_tree(folder: Path) -> Path:
    """Return a folder with two files, one of them in a folder of its own."""
    (folder / "inner").mkdir(parents=True)
    (folder / "a.py").write_text("a", encoding="utf-8")
    (folder / "inner" / "b").write_text("b", encoding="utf-8")
    return folder


def test_key_of_a_folder_does_not_depend_on_its_place_or_on_bytecode(tmp_path: Path) -> None:
    one, two = make_tree(tmp_path / "one" / "tree"), make_tree(tmp_path / "two" / "tree")
    (two / "__pycache__").mkdir()
    (two / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert content_key(one) == content_key(two)


@pytest.mark.parametrize("change", ["content", "name", "mode", "new", "empty folder", "link"])
def test_key_of_a_folder_follows_every_change(tmp_path: Path, change: str) -> None:
    tree = make_tree(tmp_path / "tree")
    before = content_key(tree)
    if change == "content":
        (tree / "inner" / "b").write_text("B", encoding="utf-8")
    elif change == "name":
        (tree / "a.py").rename(tree / "c.py")
    elif change == "mode":
        (tree / "a.py").chmod(0o755)
    elif change == "new":
        (tree / "d").touch()
    elif change == "empty folder":
        (tree / "e").mkdir()
    else:
        (tree / "l").symlink_to("a.py")
    assert content_key(tree) != before


def test_pieces_do_not_run_into_each_other() -> None:
    keys = {
        content_key("ab", "c"),
        content_key("a", "bc"),
        content_key("abc"),
        content_key(b"abc"),
        content_key("abc", ""),
    }
    assert len(keys) == 5


def test_missing_input_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        content_key(tmp_path / "nothing")


def test_entry_is_built_once(own_cache: Path) -> None:
    calls: list[Path] = []

    def build(target: Path) -> None:
        calls.append(target)
        target.write_text("made", encoding="utf-8")

    entry = cached("kind", "key", build)
    assert entry == own_cache / "kind" / "key"
    assert cached("kind", "key", build) == entry
    assert entry.read_text(encoding="utf-8") == "made"
    assert len(calls) == 1
    assert calls[0] != entry


def test_failed_build_leaves_no_entry(own_cache: Path) -> None:
    def fail(target: Path) -> None:
        target.mkdir()
        (target / "half").touch()
        raise RuntimeError("no disk")

    with pytest.raises(RuntimeError, match="no disk"):
        cached("kind", "key", fail)
    assert [path.name for path in (own_cache / "kind").iterdir()] == [".key.lock"]


def test_left_over_of_a_killed_builder_is_removed(own_cache: Path) -> None:
    left = own_cache / "kind" / ".key.part"
    left.mkdir(parents=True)
    (left / "half").touch()
    entry = cached("kind", "key", lambda target: target.mkdir())
    assert list(entry.iterdir()) == []


def test_builders_of_one_entry_take_turns() -> None:
    inside = threading.Event()
    finish = threading.Event()
    calls: list[str] = []

    def slow(target: Path) -> None:
        calls.append("slow")
        inside.set()
        assert finish.wait(30)
        target.touch()

    def quick(target: Path) -> None:
        calls.append("quick")
        target.touch()

    first = threading.Thread(target=cached, args=("kind", "key", slow))
    second = threading.Thread(target=cached, args=("kind", "key", quick))
    first.start()
    assert inside.wait(30)
    second.start()
    second.join(0.2)
    assert second.is_alive(), "the second builder did not wait"
    finish.set()
    first.join(30)
    second.join(30)
    assert calls == ["slow"]
