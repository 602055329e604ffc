# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of whole copies, with a process for each host and for each stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import kept
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.fanout.fanout_hosts import (
    MIB,
    Gate,
    Host,
    content,
    free_port,
    get,
    lay,
    manifest_of,
    until,
)

FILES = {
    "config.json": b"{}",
    "empty.txt": b"",
    "model-00001-of-00002.safetensors": content(1, 5 * MIB + 17),
    "model-00002-of-00002.safetensors": content(2, 4 * MIB),
    "nested/tokenizer.json": content(3, 70_000),
}
TOTAL = sum(len(data) for data in FILES.values())
BIG = {"model.safetensors": content(4, 12 * MIB)}

Make = Callable[..., Host]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Hosts of one test, all with one port and one manifest."""
    port = free_port()
    hosts: list[Host] = []

    def host(number: int, manifest: dict[str, Any]) -> Host:
        hosts.append(Host(tmp_path, number, manifest, port))
        return hosts[-1]

    yield host
    for one in hosts:
        one.stop()


def seen(root: Path) -> dict[str, Any]:
    """All files and links below a folder."""
    return {
        str(path.relative_to(root)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def test_a_chain_of_three_brings_all_files_and_the_source_sends_them_once(make: Make) -> None:
    manifest = manifest_of(FILES)
    source, first, second, third = (make(number, manifest) for number in (2, 3, 4, 5))
    lay(source.root, FILES)
    # The last one first: those above it are still starting.
    third.begin(second.address, first.address, source.address, listen=[])
    second.begin(first.address, source.address)
    first.begin(source.address)
    source.begin()
    for host in (first, second, third):
        assert host.result() == {
            "changed": True,
            "kept": 0,
            "received": TOTAL,
            "files": sorted(FILES, key=lambda path: (-len(FILES[path]), path)),
            "notes": [],
        }
        assert seen(host.root) == FILES
        assert sorted(path.name for path in host.root.parent.iterdir()) == [".dgxspark-serving.tiny.json", "tiny"]
        entries = manifest["entries"]
        assert kept.digest(str(host.root), "path", "acme/tiny", "", entries) == host.order.payload.digest
    assert source.sent() == TOTAL


def test_a_second_run_changes_nothing_and_moves_nothing(make: Make) -> None:
    manifest = manifest_of(FILES)
    source, target = make(2, manifest), make(3, manifest)
    lay(source.root, FILES)
    lay(target.root, FILES)
    source.begin()
    assert target.begin(source.address, listen=[]).result()["changed"] is False
    assert source.sent() == 0


def test_m01_a_hugging_face_cache_gets_its_links_and_refs(make: Make) -> None:
    top = "models--acme--tiny"
    blobs = {f"{top}/blobs/w1": content(5, MIB), f"{top}/blobs/c1": b"{}", f"{top}/refs/main": b"aaaa1111"}
    links = {
        f"{top}/snapshots/aaaa1111/model.safetensors": "../../blobs/w1",
        f"{top}/snapshots/aaaa1111/nested/config.json": "../../../blobs/c1",
    }
    manifest = manifest_of(blobs, links, hub="huggingface", revision="aaaa1111")
    source, target = make(2, manifest), make(3, manifest)
    lay(source.root, blobs, links)
    # What an older revision has left, and a link that leads elsewhere.
    lay(target.root, {f"{top}/refs/main": b"00000000", f"{top}/blobs/old": b"old"})
    lay(target.root, {}, {f"{top}/snapshots/aaaa1111/model.safetensors": "../../blobs/old"})
    source.begin()
    target.begin(source.address, listen=[]).result()
    record = Path(kept.path_of(str(target.root), "huggingface", "acme/tiny", "aaaa1111"))
    assert record.exists()
    record.unlink()
    assert seen(target.root) == {**blobs, **links, f"{top}/blobs/old": b"old"}


def test_a_file_that_grows_is_given_on_and_nothing_shows_before_the_end(make: Make) -> None:
    manifest = manifest_of(BIG)
    first, second = make(3, manifest), make(4, manifest)
    gate = Gate("127.0.0.2", first.order.port, first, BIG, 5 * MIB)
    first.begin(gate.address)
    second.begin(first.address, gate.address, listen=[])
    until(lambda: [path.stat().st_size for path in second.parts() if path.is_file()] == [5 * MIB], "half is there")
    assert not first.root.exists()
    assert not second.root.exists()
    gate.open()
    second.result()
    assert seen(second.root) == BIG
    assert gate.given == 5 * MIB
    gate.close()


def test_after_sigkill_what_has_arrived_is_not_sent_again(make: Make) -> None:
    files = {**BIG, "config.json": b"{}" * 40_000}
    manifest = manifest_of(files)
    source, target = make(5, manifest), make(3, manifest)
    lay(source.root, files)
    gate = Gate("127.0.0.2", target.order.port, target, files, 7 * MIB)
    target.begin(gate.address, listen=[], streams=2)
    whole = "config.json"
    until(lambda: any(path.name == whole for path in target.root.parent.rglob("*")), "a file is whole")
    until(lambda: 7 * MIB in [path.stat().st_size for path in target.parts()], "half a file is there")
    target.kill()
    gate.close()
    source.begin()
    assert target.begin(source.address, listen=[]).result()["files"] == ["model.safetensors"]
    assert seen(target.root) == files
    assert source.sent() == 5 * MIB


def test_what_another_manifest_has_left_is_removed_first(make: Make) -> None:
    source, target = make(2, manifest_of(FILES)), make(3, manifest_of(FILES))
    lay(source.root, FILES)
    old = target.root.parent / ".dgxspark-serving.tiny.part"
    lay(old, {"0123456789abcdef/model.safetensors": b"old"})
    source.begin()
    target.begin(source.address, listen=[]).result()
    assert not old.exists()
    assert seen(target.root) == FILES


def test_hosts_behind_a_dead_one_go_on_where_they_were(make: Make) -> None:
    manifest = manifest_of(BIG)
    source, middle, last = make(5, manifest), make(3, manifest), make(4, manifest)
    lay(source.root, BIG)
    gate = Gate("127.0.0.2", middle.order.port, middle, BIG, 8 * MIB)
    source.begin()
    middle.begin(gate.address)
    last.begin(middle.address, source.address, listen=[])
    until(lambda: 8 * MIB in [path.stat().st_size for path in last.parts() if path.is_file()], "half is there")
    middle.kill()
    last.result()
    assert seen(last.root) == BIG
    assert source.sent() == 4 * MIB
    gate.close()


def test_a_host_that_sends_nothing_counts_as_dead(make: Make) -> None:
    manifest = manifest_of(BIG)
    source, target = make(5, manifest), make(3, manifest)
    lay(source.root, BIG)
    gate = Gate("127.0.0.2", target.order.port, target, BIG, 2 * MIB)
    source.begin()
    target.begin(gate.address, source.address, listen=[], stall=0.5).result()
    assert seen(target.root) == BIG
    assert source.sent() == 10 * MIB
    gate.close()


def test_a_connection_that_was_closed_between_two_files_is_no_failure(make: Make) -> None:
    manifest = manifest_of(FILES)
    source, target = make(5, manifest), make(3, manifest)
    lay(source.root, FILES)
    gate = Gate("127.0.0.2", target.order.port, target, FILES, 6 * MIB, once=True)
    gate.open()
    source.begin().result()
    target.begin(gate.address, source.address, listen=[], streams=1).result()
    assert seen(target.root) == FILES
    assert source.sent() == 0
    gate.close()


def test_without_any_source_the_copy_fails_and_keeps_what_it_has(make: Make) -> None:
    target = make(3, manifest_of(BIG))
    gate = Gate("127.0.0.2", target.order.port, target, BIG, 2 * MIB)
    target.begin(gate.address, listen=[], stall=1)
    until(lambda: [path.stat().st_size for path in target.parts() if path.is_file()] == [2 * MIB], "some is there")
    gate.close()
    status = target.ended()
    assert status["state"] == "failed"
    assert status["error"].startswith("No host gives model acme/tiny any more: 127.0.0.2 ")
    assert status["error"].endswith("Look at those hosts, and run again: what has arrived is kept.")
    assert [path.stat().st_size for path in target.parts() if path.is_file()] == [2 * MIB]


def test_a_byte_that_a_middle_host_has_wrong_comes_from_another_host(make: Make) -> None:
    manifest = manifest_of(BIG)
    source, middle, last = (make(number, manifest) for number in (2, 3, 4))
    lay(source.root, BIG)
    lay(middle.root, {"model.safetensors": b"x" + BIG["model.safetensors"][1:]})
    source.begin()
    middle.begin()
    last.begin(middle.address, source.address, listen=[]).result()
    assert seen(last.root) == BIG


def test_a_byte_that_the_source_has_wrong_fails_with_the_name_of_the_file(make: Make) -> None:
    manifest = manifest_of(FILES)
    source, target = make(2, manifest), make(3, manifest)
    lay(source.root, {**FILES, "nested/tokenizer.json": b"x" * 70_000})
    source.begin()
    status = target.begin(source.address, listen=[]).ended()
    assert status["error"].startswith("nested/tokenizer.json arrives with another SHA-256 than the manifest has: ")
    assert not target.root.exists()


def test_what_was_wrong_in_an_earlier_part_is_no_fault_of_the_source(make: Make) -> None:
    manifest = manifest_of(BIG)
    source, target = make(2, manifest), make(3, manifest)
    lay(source.root, BIG)
    part = Path(target.order.place.part(target.order.payload.files[0]))
    lay(part.parent, {part.name: b"\0" * MIB})
    source.begin()
    target.begin(source.address, listen=[]).result()
    assert seen(target.root) == BIG


@pytest.mark.parametrize("distrust", [(), ("model-00002-of-00002.safetensors",)])
def test_in_a_folder_that_is_there_only_wrong_files_are_replaced(
    make: Make, monkeypatch: pytest.MonkeyPatch, distrust: tuple[str, ...]
) -> None:
    manifest = manifest_of(FILES)
    source, target = make(2, manifest), make(3, manifest)
    lay(source.root, FILES)
    lay(target.root, {**FILES, "config.json": b"truncated", "notes.txt": b"mine"})
    inode = (target.root / "model-00002-of-00002.safetensors").stat().st_ino
    monkeypatch.setattr(target.order.place, "_distrust", frozenset(distrust))
    source.begin()
    assert target.begin(source.address, listen=[]).result()["files"] == [*distrust, "config.json"]
    assert seen(target.root) == {**FILES, "notes.txt": b"mine"}
    assert ((target.root / "model-00002-of-00002.safetensors").stat().st_ino == inode) is not bool(distrust)


def test_a_source_that_lost_a_file_says_so(make: Make) -> None:
    source = make(2, manifest_of(FILES))
    lay(source.root, {path: data for path, data in FILES.items() if path != "config.json"})
    assert source.begin().ended()["error"] == (
        f"model acme/tiny is no longer complete at {source.root}: of 5 files 1 are missing or changed (config.json)."
        " Run again."
    )


def test_only_peers_with_the_token_get_anything(make: Make) -> None:
    source = make(2, manifest_of(FILES))
    lay(source.root, FILES)
    lay(source.root.parent, {"secret": b"secret"})
    source.begin().result()
    assert get(source, "/2") == (200, FILES["model-00001-of-00002.safetensors"])
    assert get(source, "/2", offset=5 * MIB) == (206, FILES["model-00001-of-00002.safetensors"][5 * MIB :])
    assert get(source, "/2", token="wrong") == (401, b"")
    assert get(source, "/2", source="127.0.0.9") == (403, b"")
    assert get(source, "/2", offset=6 * MIB) == (416, b"")
    for path in ("/../secret", "/%2e%2e/secret", "/5", "/-1", "/config.json", "//", "/2/../3"):
        assert get(source, path) == (404, b""), path


def test_a_port_that_is_taken_is_named(make: Make) -> None:
    manifest = manifest_of(FILES)
    source, same = make(2, manifest), make(2, manifest)
    lay(source.root, FILES)
    source.begin().result()
    error = same.begin().ended()["error"]
    assert error.startswith(
        f"127.0.0.2 port {source.order.port} cannot be listened at to give model acme/tiny to other"
    )
    same.stop()
