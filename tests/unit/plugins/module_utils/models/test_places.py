# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a model may be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import places, reference
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import ID, cached, folder


def find(
    text: str,
    cache: Path | str = "",
    hub: str = "huggingface",
    revision: str = "",
    home: Path | str = "/none",
    **environ: str,
) -> list[places.Place]:
    return places.find(reference.parse(text, hub), str(cache), revision, environ, str(home))


def test_a_path(tmp_path: Path) -> None:
    assert find(str(tmp_path)) == [places.Place(str(tmp_path), str(tmp_path))]
    gone = str(tmp_path / "none")
    assert find(gone) == [places.Place(gone, problem=f"no folder {gone}")]


def test_an_id_that_is_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".cache/huggingface").mkdir(parents=True)
    assert find(ID, "/mine", home=tmp_path) == [
        places.Place("/mine", problem=f"no folder /mine/models--acme--tiny, nor in {tmp_path}/.cache/huggingface")
    ]
    assert find(ID, "/mine") == [places.Place("/mine", problem="no folder /mine/models--acme--tiny")]


def test_all_caches_are_looked_through_in_order_m04(tmp_path: Path) -> None:
    cached(tmp_path / "b")
    cached(tmp_path / "c/hub")
    environ = {"HF_HUB_CACHE": str(tmp_path / "a"), "HUGGINGFACE_HUB_CACHE": str(tmp_path / "b")}
    found = find(ID, HF_HOME=str(tmp_path / "c"), **environ)
    assert [(place.root, place.note) for place in found] == [
        (str(tmp_path / "b"), f"found in {tmp_path}/b, not whole in {tmp_path}/a"),
        (str(tmp_path / "c/hub"), f"found in {tmp_path}/c/hub, not whole in {tmp_path}/a"),
    ]


@pytest.mark.parametrize("old", ["", "transformers"])
def test_old_layouts_of_hugging_face(tmp_path: Path, old: str) -> None:
    cached(tmp_path / old)
    assert [place.root for place in find(ID, HF_HOME=str(tmp_path))] == [str(tmp_path / old).rstrip("/")]


def test_a_folder_of_the_cache_that_is_elsewhere(tmp_path: Path) -> None:
    """Its real cache is mounted, else the container would not see where the link leads."""
    real = cached(tmp_path / "big")
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / real.name).symlink_to(real)
    (place,) = find(ID, tmp_path / "hub")
    assert (place.root, place.repository) == (str(tmp_path / "big"), str(real))


def test_a_cache_that_is_a_link_is_as_good(tmp_path: Path) -> None:
    cached(tmp_path / "big")
    (tmp_path / "hub").symlink_to("big")
    (place,) = find(ID, tmp_path / "hub")
    assert (place.root, place.note) == (str(tmp_path / "hub"), "")


def test_the_snapshot_is_chosen(tmp_path: Path) -> None:
    repository = cached(tmp_path, revision="1111111aaa", ref="main")
    cached(tmp_path, revision="2222222bbb", ref="v2")
    for revision, name in (("", "1111111aaa"), ("v2", "2222222bbb"), ("2222222bbb", "2222222bbb")):
        (place,) = find(ID, tmp_path, revision=revision)
        assert place == places.Place(str(tmp_path), str(repository / "snapshots" / name), str(repository), name)
    (repository / "refs/main").unlink()
    (place,) = find(ID, tmp_path)
    assert place.path == ""
    assert place.problem.startswith(f"{repository}: nothing says which of 2 snapshots is main")


def test_engines_must_find_the_snapshot_by_the_name_that_they_get(tmp_path: Path) -> None:
    """Without a network huggingface_hub wants a ref or the whole name, and takes what a ref holds literally."""
    repository = cached(tmp_path, revision="1111111aaa", ref=None)
    by_part = f"without {repository}/refs/1111111 no engine finds the snapshot (set serving_model_revision: 1111111aaa)"
    assert find(ID, tmp_path, revision="1111111")[0].problem == by_part
    assert find(ID, tmp_path)[0].problem == by_part.replace("refs/1111111 ", "refs/main ")
    (repository / "refs").mkdir()
    ref = repository / "refs/main"
    ref.write_text("1111111aaa\n")
    (place,) = find(ID, tmp_path)
    command = f"printf %s 1111111aaa > {ref}"
    assert place.problem == f"{ref} holds more than the snapshot's name, so no engine finds it ({command})"
    assert os.system(command) == 0
    assert find(ID, tmp_path)[0].problem == ""


@pytest.mark.parametrize("path", ["hub/models/Acme/Tiny-1___5B", "hub/Acme/Tiny-1.5B", "models/Acme/Tiny-1.5B"])
def test_modelscope_m13(tmp_path: Path, path: str) -> None:
    home = tmp_path / ".cache/modelscope"
    folder(home / path)
    (place,) = find("Acme/Tiny-1.5B", hub="modelscope", home=tmp_path)
    assert (place.root, place.path) == (str(home / path), str(home / path))


def test_modelscope_2_has_snapshots(tmp_path: Path) -> None:
    snapshots = tmp_path / "models/Acme--Tiny-1.5B/snapshots"
    folder(snapshots / "master")
    folder(snapshots / "v2")
    for revision, name in (("", "master"), ("v2", "v2")):
        (place,) = find("Acme/Tiny-1.5B", tmp_path, "modelscope", revision)
        assert (place.root, place.path, place.revision) == (str(snapshots / name), str(snapshots / name), name)
    (place,) = find("Acme/Tiny-1.5B", tmp_path, "modelscope", "v3")
    assert (place.path, place.problem) == ("", f"{snapshots}: no revision v3: there is master, v2")


def test_a_link_of_modelscope_is_the_same_copy_m12(tmp_path: Path) -> None:
    real = folder(tmp_path / "models/Acme/Tiny-1___5B")
    (tmp_path / "models/Acme/Tiny-1.5B").symlink_to(real.name)
    assert [place.path for place in find("Acme/Tiny-1.5B", tmp_path, "modelscope")] == [str(real)]


def test_the_newest_copy_of_modelscope_comes_first_m13(tmp_path: Path) -> None:
    old, new = folder(tmp_path / "models/acme/tiny"), folder(tmp_path / "hub/acme/tiny")
    for path in old.iterdir():
        os.utime(path, (1, 1))
    found = find(ID, tmp_path, "modelscope")
    assert [place.path for place in found] == [str(new), str(old)]
    assert {place.note for place in found} == {f"there are 2 copies, the newest whole one counts: {new}, {old}"}


def test_modelscope_without_the_model(tmp_path: Path) -> None:
    wanted = f"{tmp_path}/models/Acme/Tiny-1___5B"
    assert find("Acme/Tiny-1.5B", tmp_path, "modelscope") == [
        places.Place(wanted, problem=f"no folder {wanted}, nor in any other place where ModelScope keeps models")
    ]


def test_an_old_layout_of_modelscope_tells_no_revision(tmp_path: Path) -> None:
    folder(tmp_path / "models/acme/tiny")
    (place,) = find(ID, tmp_path, "modelscope", "v2")
    assert place.note == "ModelScope does not say whether this is revision v2"


def test_variables_of_all_sessions_count_under_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "environment").write_text("HF_HOME=/data/hf\nXDG_CACHE_HOME=/file\n")
    monkeypatch.setattr(places.roots, "ENVIRONMENT_FILE", str(tmp_path / "environment"))
    monkeypatch.delenv("HF_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/session")
    found = places.environment()
    assert (found["HF_HOME"], found["XDG_CACHE_HOME"]) == ("/data/hf", "/session")
    monkeypatch.setattr(places.roots, "ENVIRONMENT_FILE", str(tmp_path / "none"))
    assert "HF_HOME" not in places.environment()
