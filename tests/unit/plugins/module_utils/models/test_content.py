# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the files of a model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import content, owners, places, reference
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.models.model_trees import (
    ID,
    WEIGHTS,
    cached,
    files,
    folder,
    index,
    shard,
)

INDEX = "model.safetensors.index.json"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"


def read(path: Path) -> content.Content:
    """A folder, looked at by its owner."""
    return content.read(reference.parse(str(path)), places.Place(str(path), str(path)), owners.login())


def read_cached(hub: Path, user: owners.Login | None = None) -> content.Content:
    """A model in a cache."""
    model = reference.parse(ID)
    (place,) = places.find(model, str(hub), "", {}, "/none")
    return content.read(model, place, user or owners.login())


def test_whole(tmp_path: Path) -> None:
    found = read(folder(tmp_path))
    assert (found.problems, found.notes, found.missing) == ([], [], 0)
    assert found.size == sum(len(data) for data in files().values())
    assert (found.facts["architecture"], found.facts["parameters"]) == ("TinyForCausalLM", 16)


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    once = read(folder(tmp_path)).size
    (tmp_path / "again").symlink_to(WEIGHTS)
    assert read(tmp_path).size == once


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({WEIGHTS: shard()[:-1]}, "broken weight files: model.safetensors (85 bytes, wanted 86)"),
        ({WEIGHTS: b"\xff" * 99}, "broken weight files: model.safetensors (no header of safetensors)"),
        ({WEIGHTS: b""}, "empty weight files: model.safetensors"),
        ({"config.json": b"{"}, "config.json is not a JSON object"),
        ({INDEX: b"[]"}, "model.safetensors.index.json is not a JSON object"),
        ({INDEX: b"{}"}, "model.safetensors.index.json is no index of weights"),
        ({INDEX: index("a", total=90)}, f"1 of the weight files in {INDEX} not there: a"),
    ],
)
def test_problems(tmp_path: Path, change: dict[str, bytes], problem: str) -> None:
    assert read(folder(tmp_path, files() | change)).problems == [problem]


def test_notes_of_git_lfs_are_no_files(tmp_path: Path) -> None:
    found = read(folder(tmp_path, files() | {WEIGHTS: POINTER, "config.json": POINTER}))
    assert found.problems == [
        f"notes of git-lfs in place of files: config.json, {WEIGHTS} (git -C {tmp_path} lfs pull)"
    ]
    assert found.facts == {}


def test_bytes_that_are_missing(tmp_path: Path) -> None:
    parts = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    names = {parts[0]: shard(), INDEX: index(*parts, total=100)}
    whole = {name: data for name, data in files().items() if name != WEIGHTS}
    assert read(folder(tmp_path / "half", whole | names)).missing == 100 - len(shard())
    assert (
        read(folder(tmp_path / "small", {name: data for name, data in files().items() if name == WEIGHTS})).missing
        is None
    )


def test_facts_of_half_a_model_come_from_its_configuration(tmp_path: Path) -> None:
    found = read(folder(tmp_path, {name: data for name, data in files().items() if name != "tokenizer.json"}))
    assert found.facts["architecture"] == "TinyForCausalLM"
    assert found.facts["parameters"] is None


def test_dangling_links_m01(tmp_path: Path) -> None:
    repository = cached(tmp_path)
    (repository / "blobs" / f"aaaa1111-{WEIGHTS}").unlink()
    command = f"rsync -aH --copy-unsafe-links HOST:{repository}/ {repository}/"
    assert read_cached(tmp_path).problems == [
        f"links that lead nowhere: {WEIGHTS} (copy it anew from a host that has it: {command})"
    ]


def test_blobs_that_repositories_share_are_whole(tmp_path: Path) -> None:
    repository = cached(tmp_path)
    blob = repository / "blobs" / f"aaaa1111-{WEIGHTS}"
    (tmp_path / "blobs/ab").mkdir(parents=True)
    blob.rename(tmp_path / "blobs/ab/abcd")
    blob.symlink_to("../../blobs/ab/abcd")
    assert read_cached(tmp_path).problems == []


def test_absolute_links_lead_nowhere_in_the_container(tmp_path: Path) -> None:
    repository = cached(tmp_path)
    link = repository / "snapshots/aaaa1111" / WEIGHTS
    target = os.path.realpath(link)
    link.unlink()
    link.symlink_to(target)
    (problem,) = read_cached(tmp_path).problems
    assert problem.startswith(f"absolute links, which lead nowhere in the container: {WEIGHTS} (find {repository} ")
    command = problem.partition(" (")[2].removesuffix(")")
    assert os.system(command) == 0
    assert os.readlink(link) == f"../../blobs/aaaa1111-{WEIGHTS}"
    assert read_cached(tmp_path).problems == []


def test_links_out_of_the_cache(tmp_path: Path) -> None:
    repository = cached(tmp_path / "hub")
    blob = repository / "blobs" / f"aaaa1111-{WEIGHTS}"
    blob.rename(tmp_path / "elsewhere")
    blob.symlink_to("../../../elsewhere")
    assert read_cached(tmp_path / "hub").problems == [
        f"links out of {tmp_path}/hub, which is all that the container gets: {WEIGHTS} (put the files in their place)"
    ]


def test_the_path_of_a_snapshot_m16(tmp_path: Path) -> None:
    snapshot = cached(tmp_path) / "snapshots/aaaa1111"
    instead = f"set serving_model: acme/tiny, model_cache_dir: {tmp_path}, serving_model_revision: aaaa1111"
    (problem,) = read(snapshot).problems
    assert problem.endswith(f"config.json, {WEIGHTS}, tokenizer.json ({instead})")


def test_the_path_of_a_snapshot_of_real_files_will_do_m16(tmp_path: Path) -> None:
    assert read(folder(tmp_path / "models--acme--tiny/snapshots/aaaa1111")).problems == []


def test_what_the_login_cannot_read_m02(tmp_path: Path) -> None:
    repository = cached(tmp_path)
    blob = repository / "blobs" / f"aaaa1111-{WEIGHTS}"
    blob.chmod(0o600)
    other = owners.Login("dev", os.geteuid() + 1, frozenset(), "/home/dev")
    me = owners.name_of(os.geteuid())
    assert read_cached(tmp_path, other).problems == [
        f"dev cannot read blobs/aaaa1111-{WEIGHTS} (owner {me}, mode 0600) (sudo chown -R dev: {repository})"
    ]
