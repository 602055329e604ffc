# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests: what they say, and which are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import manifest

A, B = "a" * 64, "b" * 64
TOP = "models--acme--tiny"
LINK = {"path": f"{TOP}/snapshots/rev/config.json", "link": "../../blobs/c1"}
BLOB = {"path": f"{TOP}/blobs/c1", "size": 2, "sha256": A}


def data(*entries: Any, **change: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "model": "acme/tiny",
        "hub": "huggingface",
        "revision": "rev",
        "entries": list(entries) or [BLOB, LINK],
        **change,
    }


def plain(*entries: Any) -> dict[str, Any]:
    return data(*entries, hub="path", model="/data/tiny", revision="")


def file(path: str, size: Any = 1, sha256: Any = A) -> dict[str, Any]:
    return {"path": path, "size": size, "sha256": sha256}


def test_make_sorts_and_adds_hashes() -> None:
    entries = [LINK, {"path": BLOB["path"], "size": 2}]
    assert manifest.make("acme/tiny", "huggingface", "rev", entries, {BLOB["path"]: A}) == data()


def test_parse_takes_what_make_gives_in_any_order() -> None:
    assert manifest.parse(json.loads(json.dumps(data(LINK, BLOB)))) == data()


def test_the_digest_is_of_the_entries_alone() -> None:
    assert manifest.digest(data()) == manifest.digest(data(LINK, BLOB, model="other", format=2))
    assert len(manifest.digest(data())) == 64
    for other in ({**BLOB, "size": 3}, {**BLOB, "sha256": B}, {**BLOB, "path": f"{TOP}/blobs/c2"}):
        assert manifest.digest(data(other, LINK)) != manifest.digest(data())


def test_the_fingerprint_needs_no_hashes() -> None:
    walked = [{"path": BLOB["path"], "size": 2}, LINK]
    assert manifest.fingerprint(walked) == manifest.fingerprint(data()["entries"])
    assert manifest.fingerprint(walked) == manifest.fingerprint([{**BLOB, "sha256": B}, LINK])
    for other in ({**BLOB, "size": 3}, {**BLOB, "path": "x"}):
        assert manifest.fingerprint([other, LINK]) != manifest.fingerprint(walked)
    assert manifest.fingerprint([BLOB, {**LINK, "link": "x"}]) != manifest.fingerprint(walked)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"{TOP}/blobs/{A}", A),
        (f"{TOP}/blobs/{'a' * 40}", ""),
        (f"{TOP}/blobs/{A}/x", ""),
        (f"{TOP}/snapshots/{A}", ""),
        # Names in the shared store are hashes of another kind.
        (f"blobs/aa/{A}", ""),
    ],
)
def test_named_hash(path: str, expected: str) -> None:
    assert manifest.named_hash(path) == expected


@pytest.mark.parametrize(
    "entry_path",
    [
        *(
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/./b",
            "a//b",
            "a/",
            "",
            ".",
            "..",
            "a\0b",
            "a\nb",
            "\udc80",
            "x" * 256,
        ),
        "a/.dgxspark-serving/x",
    ],
)
def test_paths_that_are_refused(entry_path: str) -> None:
    with pytest.raises(ValueError, match="is no path inside the model's folder$"):
        manifest.parse(plain(file(entry_path)))


@pytest.mark.parametrize("path", ["blobs/ab/c1", "models--other--tiny/blobs/c1", "models--acme--tiny2/c1", TOP])
def test_a_hub_model_stays_in_its_repository(path: str) -> None:
    with pytest.raises(ValueError, match="is no path inside the model's folder$"):
        manifest.parse(data(file(path)))


@pytest.mark.parametrize("target", ["../../../etc/passwd", "/etc/passwd", "gone", "..", "", "../a/../../x"])
def test_links_that_are_refused(target: str) -> None:
    with pytest.raises(ValueError, match="^the link 'a/link' leads to no file of the model$"):
        manifest.parse(plain(file("a/b"), {"path": "a/link", "link": target}))


@pytest.mark.parametrize("target", ["b", "./b", "../a/b"])
def test_links_that_are_taken(target: str) -> None:
    assert manifest.parse(plain(file("a/b"), {"path": "a/link", "link": target}))


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (None, "the manifest has format 'None', wanted 1"),
        ([], "the manifest has format '[]', wanted 1"),
        (data(format=2), "the manifest has format '2', wanted 1"),
        (data(model=3, hub="path"), "the manifest's model is '3'"),
        (data(hub="other"), "the manifest's hub is 'other', wanted one of huggingface, modelscope, path"),
        (data(revision=""), "the manifest's revision is ''"),
        (data(revision="../x"), "the manifest's revision is '../x'"),
        (data(entries={}), "the manifest's entries are no list of 1 to 100000"),
        (data(entries=[]), "the manifest's entries are no list of 1 to 100000"),
        (plain("x"), "entry 0 has no path"),
        (plain({"size": 1}), "entry 0 has no path"),
        (plain(file("a"), file("a")), "'a' is there twice"),
        (plain(file("a"), file("a/b")), "'a/b' lies in what is a file"),
        (plain(file("c"), file("a/b/d"), {"path": "a", "link": "c"}), "'a/b/d' lies in what is a file"),
        (plain({"path": "a"}), "'a' is neither a file with size and sha256 nor a link"),
        (plain({"path": "a", "link": 3}), "'a' is neither a file with size and sha256 nor a link"),
        (plain({"path": "a", "link": "a", "size": 1}), "'a' is neither a file with size and sha256 nor a link"),
        (plain(file("a", "1")), "'a' has the size '1'"),
        (plain(file("a", True)), "'a' has the size 'True'"),
        (plain(file("a", -1)), "'a' has the size '-1'"),
        (plain(file("a", 10**18)), "'a' has the size '1000000000000000000'"),
        (plain(file("a", sha256="A" * 64)), f"'a' has the sha256 '{'A' * 64}'"),
        (plain(file("a", sha256=None)), "'a' has the sha256 'None'"),
    ],
)
def test_what_is_refused(bad: Any, expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        manifest.parse(bad)
    assert str(caught.value) == expected


def test_all_faults_at_once_but_not_thousands() -> None:
    with pytest.raises(ValueError) as caught:
        manifest.parse(plain(*(file(f"/{number}") for number in range(12)), file("a", -1)))
    said = str(caught.value).split("; ")
    assert (len(said), said[-1]) == (11, "and 3 more")
