# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who gets an image from where."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images import lock, spread
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image
from ansible_collections.dgxspark.serving.plugins.module_utils.images.spread import Part, Wish

NAME = "acme/vllm:1"
HOSTS = ["a", "b", "c"]
GB = 10**9
PLAIN = Wish()


def image(content: str = "l1", architecture: str = "arm64", digest: str = "") -> dict[str, Any]:
    digests = (f"acme/vllm@sha256:{digest}",) if digest else ()
    return asdict(Image(f"sha256:id-{content}", digests, architecture, (content,), size=GB))


def seen(*images: dict[str, Any] | None, **more: Any) -> dict[str, dict[str, Any]]:
    return {host: {"image": one, **more} for host, one in zip(HOSTS, images, strict=True)}


def archive(layers: str = "l1", architecture: str = "arm64", problem: str = "") -> dict[str, Any]:
    return {"layers": [layers], "architecture": architecture, "problem": problem}


def first(
    found: dict[str, dict[str, Any]], wish: Wish = PLAIN, apart: tuple[str, ...] = (), name: str = NAME
) -> dict[str, Part]:
    return spread.first(dict.fromkeys(HOSTS, name), found, wish, lambda _source, host: host not in apart)


def actions(parts: dict[str, Part]) -> list[str]:
    return [parts[host].fault[:5] or parts[host].action for host in HOSTS]


LOCKED = Wish(locks={NAME: lock.entry(image(digest="aaaa"), {})}, lock_path="image.lock.yml")
BUILT_LOCK = Wish(locks={NAME: lock.entry(image(), {})}, lock_path="image.lock.yml")


@pytest.mark.parametrize(
    ("found", "wish", "apart", "expected", "source"),
    [
        (seen(None, None, None), Wish(), (), ["pull", "", ""], "a"),
        (seen(None, image(), None), Wish(), (), ["", "", ""], "b"),
        (seen(image(), image(), image()), Wish(), (), ["", "", ""], ""),
        (seen(image(), image("l2"), image()), Wish(), (), ["", "", ""], ""),
        (seen(None, image(), None), Wish(fan_out=False), (), ["pull", "", "pull"], "b"),
        (seen(None, None, None), Wish(), ("c",), ["pull", "", "pull"], "a"),
        (seen(None, image(), None), Wish(), ("c",), ["", "", "pull"], "b"),
        (seen(image(), image(), image()), Wish(update=True), (), ["pull", "", ""], "a"),
        (seen(image(), image(), image()), Wish(update=True, fan_out=False), (), ["pull"] * 3, "a"),
        (seen(image(), image("l2"), None), Wish(source="b"), (), ["", "", ""], "b"),
    ],
    ids=[
        "nobody has it",
        "one has it",
        "all have it",
        "different ones are the preflight's",
        "each for itself",
        "one apart",
        "one apart, one has it",
        "update",
        "update, each for itself",
        "repair",
    ],
)
def test_d10_one_host_gets_it_from_outside(
    found: dict[str, dict[str, Any]], wish: Wish, apart: tuple[str, ...], expected: list[str], source: str
) -> None:
    parts = first(found, wish, apart)
    assert actions(parts) == expected
    assert {part.source for part in parts.values()} == {source}
    assert {part.reference for part in parts.values() if part.action} <= {NAME}


def test_a_name_with_a_digest_is_pulled_by_each_host() -> None:
    name = "acme/vllm@sha256:" + "a" * 64
    assert actions(first(seen(image(), None, None), name=name)) == ["", "pull", "pull"]


@pytest.mark.parametrize(
    ("a", "b", "expected", "source"),
    [
        (archive(), None, ["load", "", ""], "a"),
        (None, archive(), ["", "load", ""], "b"),
        (archive("l2"), None, ["", "", ""], "a"),
    ],
    ids=["on the first", "on another", "is loaded already"],
)
def test_a_tar_is_loaded_where_it_is(a: Any, b: Any, expected: list[str], source: str) -> None:
    found = seen(image("l2"), None, None)
    found["a"]["archive"], found["b"]["archive"] = a, b
    parts = first(found, Wish(tar="/x.tar"))
    assert actions(parts) == expected
    assert {part.source for part in parts.values()} == {source}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "found no file /x.tar, wanted it on one of a, b, c. Correct image_tar, or copy it there."),
        (
            archive(problem="it is no tar file"),
            "found no image acme/vllm:1 in /x.tar on b: it is no tar file. Make it with: docker save.",
        ),
        (
            archive(architecture="amd64"),
            "found an image for amd64 in /x.tar on b, wanted arm64. Save one for arm64.",
        ),
    ],
)
def test_a_tar_that_cannot_be_loaded_is_refused_on_all(given: Any, said: str) -> None:
    found = seen(None, None, None)
    found["b"]["archive"] = given
    assert {part.fault for part in first(found, Wish(tar="/x.tar")).values()} == {said}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x", "found image_from x, wanted a host that serves with acme/vllm:1: a, b, c."),
        ("b", "found no image acme/vllm:1 on b, which image_from names. Name a host that has it."),
    ],
)
def test_image_from_must_have_it(source: str, said: str) -> None:
    parts = first(seen(image(), None, None), Wish(source=source))
    assert {part.fault for part in parts.values()} == {said}


def test_d01_a_host_with_another_architecture_is_refused_and_the_others_go_on() -> None:
    parts = first(seen(image(architecture="amd64"), None, image()))
    assert parts["a"].fault.startswith("image acme/vllm:1 is for amd64, wanted arm64. Set serving_image to an image")
    assert (parts["b"].source, parts["b"].fault) == ("c", "")


def test_the_lock_refuses_another_image_and_pulls_a_missing_one_by_its_digest() -> None:
    parts = first(seen(image("l2", digest="bbbb"), None, None), LOCKED)
    assert "found image acme/vllm:1 with sha256:bbbb, wanted sha256:aaaa as image.lock.yml has it" in parts["a"].fault
    assert (parts["b"].action, parts["b"].reference) == ("pull", "acme/vllm@sha256:aaaa")
    assert parts["c"].action == ""
    update = Wish(update=True, locks=LOCKED.locks)
    assert first(seen(image("l2"), None, None), update)["a"].reference == NAME


def test_a_lock_of_an_image_that_no_registry_knows() -> None:
    fault = first(seen(None, None, None), BUILT_LOCK)["a"].fault
    assert "image.lock.yml names one that no registry knows. Load it from a file with -e image_tar=FILE" in fault
    assert first(seen(None, image(), None), BUILT_LOCK)["a"].fault == ""


def second(
    found: dict[str, dict[str, Any]], wish: Wish, source: str, pullers: tuple[str, ...] = (), apart: str = ""
) -> dict[str, Part]:
    parts = {host: Part(source, "pull" if host in pullers else "") for host in HOSTS}
    wanted = dict.fromkeys(found, NAME)
    return spread.second(wanted, parts, found, wish, lambda _source, host: host != apart)


@pytest.mark.parametrize(
    ("found", "wish", "source", "expected"),
    [
        (seen(image(), None, None), Wish(), "a", ["gives", "takes", "takes"]),
        (seen(image(), image("l2"), None), Wish(), "a", ["gives", "", "takes"]),
        (seen(image(), image(), image()), Wish(update=True), "a", ["", "", ""]),
        (seen(image(), image("l2"), image()), Wish(update=True), "a", ["gives", "takes", ""]),
        (seen(image("l2"), image(), None), Wish(source="b"), "b", ["takes", "gives", "takes"]),
        (seen(None, image(), None), Wish(), "", ["", "", ""]),
    ],
    ids=["missing", "what is there stays", "nothing newer", "newer", "repair", "nothing to do"],
)
def test_d10_the_others_get_it_from_that_host(
    found: dict[str, dict[str, Any]], wish: Wish, source: str, expected: list[str]
) -> None:
    parts = second(found, wish, source)
    assert ["gives" if p.gives else "takes" if p.receives else p.fault for p in parts.values()] == expected
    assert len({part.key for part in parts.values()}) == 1


def test_a_source_that_failed_is_named() -> None:
    found = {host: one for host, one in seen(None, None, image()).items() if host != "a"}
    parts = second(found, Wish(), "a")
    assert parts["b"].fault == "found no image acme/vllm:1: it was to come from a, which failed. Mend that first."
    assert parts["c"].fault == ""


def test_d01_what_came_for_another_architecture_is_not_copied() -> None:
    parts = second(seen(image(architecture="amd64"), None, None), Wish(), "a")
    assert all("is for amd64, wanted arm64" in part.fault for part in parts.values())
    assert not any(part.receives for part in parts.values())


def test_a_loaded_image_that_is_not_the_locked_one_is_not_copied() -> None:
    parts = second(seen(image("l2"), None, None), LOCKED, "a")
    assert parts["b"].fault.startswith("on a, found image acme/vllm:1 with layers sha256:")


def test_a_host_that_cannot_be_reached() -> None:
    parts = second(seen(image(), None, None), Wish(), "a", apart="c")
    assert "found no way from a to c over the fabric for image acme/vllm:1" in parts["c"].fault
    assert parts["b"].receives


def test_hosts_that_pulled_different_ones_are_found() -> None:
    parts = second(seen(image(), image("l2"), image()), Wish(), "a", pullers=("a", "b", "c"))
    assert parts["b"].fault == "pulled another image acme/vllm:1 than a: its tag was moved meanwhile. Run again."
    assert (parts["a"].fault, parts["c"].fault) == ("", "")


def test_room_is_asked_before_the_first_byte() -> None:
    found = seen(image(), None, None)
    little = {"docker_root": "/docker", "docker_free": GB, "folder_free": GB, "shared": True}
    found["c"]["room"] = little
    parts = second(found, Wish(), "a")
    assert parts["c"].fault.startswith("found 1.0 GB in /var/lib/dgxspark-serving/images and 1.0 GB in /docker free")
    assert (parts["b"].receives, parts["c"].receives) == (True, False)


def test_two_images_are_two_copies() -> None:
    wanted = {"a": NAME, "b": "acme/other:1", "c": NAME}
    found = seen(image(), image("l2"), None)
    parts = spread.first(wanted, found, Wish(), lambda *_: True)
    assert [parts[host].source for host in HOSTS] == ["a", "", "a"]
    parts = spread.second(wanted, parts, found, Wish(), lambda *_: True)
    assert (parts["a"].gives, parts["b"], parts["c"].receives) == (True, Part(), True)
