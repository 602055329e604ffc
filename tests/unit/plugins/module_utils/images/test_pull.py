# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pulls: attempts, mirrors, names and architectures, with a Docker that answers from a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import WorkFailed
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image
from ansible_collections.dgxspark.serving.plugins.module_utils.images.pull import Layers, Order, pull

NAME = "acme/vllm:1"
ARM = Image("sha256:1", ("acme/vllm@sha256:aaaa",), "arm64")
X86 = Image("sha256:2", (), "amd64")
ORDER = Order(NAME, NAME, "arm64", (), 3, 10)
TOO_MANY = "Error response from daemon: toomanyrequests: You have reached your pull rate limit"
LATE = 'Error response from daemon: Get "https://registry.example/v2/": net/http: TLS handshake timeout'
UNKNOWN = "Error response from daemon: manifest for acme/vllm:1 not found: manifest unknown: manifest unknown"


class Docker:
    """Registries and images as tables.

    :ivar answers: what each pull of a reference says in turn; an image is what it brings
    :ivar manifests: platforms of references that a registry tells
    """

    def __init__(self, answers: dict[str, list[str | Image]], images: dict[str, Image] | None = None) -> None:
        self.answers = answers
        self.images = dict(images or {})
        self.manifests: dict[str, list[str]] = {}
        self.pulls: list[str] = []

    def run(self, *arguments: str) -> tuple[int, str, str]:
        if arguments[:2] == ("manifest", "inspect"):
            found = self.manifests.get(arguments[-1])
            entries = [{"platform": {"architecture": one, "os": "linux"}} for one in found or ()]
            return (0, json.dumps({"manifests": entries}), "") if found else (1, "", "unsupported manifest")
        if arguments[0] == "tag":
            known = {**{image.id: image for image in (ARM, X86)}, **self.images}
            self.images[arguments[2]] = known[arguments[1]]
        elif arguments[:2] == ("image", "rm"):
            del self.images[arguments[2]]
        return 0, "", ""

    def follow(self, arguments: list[str], said: Callable[[str], None]) -> tuple[int, str]:
        assert arguments[:3] == ["pull", "--platform", "linux/arm64"]
        reference = arguments[3]
        self.pulls.append(reference)
        answer = self.answers[reference].pop(0)
        if isinstance(answer, str):
            return 1, answer
        said("1234567890ab: Pull complete")
        self.images[reference] = answer
        return 0, "Status: Downloaded newer image"

    def image(self, name: str) -> Image | None:
        return self.images.get(name)


class Run:
    """One pull with what it said and how long it slept."""

    def __init__(self, docker: Docker, order: Order = ORDER) -> None:
        self.docker, self.order = docker, order
        self.told: list[str] = []
        self.slept: list[float] = []

    def result(self) -> dict[str, Any]:
        return pull(self.order, self.docker, self.told.append, self.slept.append)

    def error(self) -> str:
        with pytest.raises(WorkFailed) as caught:
            self.result()
        return str(caught.value)


def test_d10_a_limit_and_a_timeout_are_waited_out() -> None:
    run = Run(Docker({NAME: [TOO_MANY, LATE, ARM]}))
    result = run.result()
    assert (result["attempts"], result["changed"], result["source"], run.slept) == (3, True, NAME, [10, 20])
    assert run.told == [
        f"asking for {NAME}",
        f"again in 10 s, for {TOO_MANY}",
        f"again in 20 s, for {LATE}",
        "1 of 1 layers",
    ]


def test_d10_a_tag_that_does_not_exist_is_asked_for_once() -> None:
    run = Run(Docker({NAME: [UNKNOWN]}))
    assert run.error() == (
        f"Found no image acme/vllm:1, and it cannot be pulled: {UNKNOWN}. Correct the name or the tag in serving_image."
    )
    assert (run.docker.pulls, run.slept) == ([NAME], [])


def test_d10_a_limit_that_stays_names_the_ways_out() -> None:
    said = Run(Docker({NAME: [TOO_MANY] * 3})).error()
    assert said.startswith("Found no image acme/vllm:1, and it cannot be pulled after 3 attempts:")
    assert "docker login" in said


def test_a_mirror_is_asked_first_and_its_image_gets_the_wanted_name() -> None:
    docker = Docker({"m.example/acme/vllm:1": [ARM]})
    result = Run(docker, replace(ORDER, mirrors=["m.example"])).result()
    assert (result["source"], docker.images[NAME], docker.pulls) == (
        "m.example/acme/vllm:1",
        ARM,
        ["m.example/acme/vllm:1"],
    )


def test_a_mirror_that_does_not_have_it_is_passed_by_at_once() -> None:
    docker = Docker({"m.example/acme/vllm:1": [LATE], "n.example/x/acme/vllm:1": [UNKNOWN], NAME: [ARM]})
    run = Run(docker, replace(ORDER, mirrors=["m.example", "n.example/x"]))
    assert (run.result()["source"], len(docker.pulls), run.slept) == (NAME, 3, [])


def test_all_that_was_asked_is_named() -> None:
    docker = Docker({"m.example/acme/vllm:1": [LATE], NAME: [UNKNOWN]})
    said = Run(docker, replace(ORDER, mirrors=["m.example"])).error()
    assert f"{UNKNOWN}, nor from m.example/acme/vllm:1 ({LATE}). Correct the name" in said


def test_a_locked_digest_gets_the_tag() -> None:
    reference = "acme/vllm@sha256:aaaa"
    docker = Docker({reference: [ARM]})
    assert Run(docker, replace(ORDER, reference=reference)).result()["source"] == reference
    assert docker.images[NAME] == ARM


def test_a_digest_that_docker_has_from_its_registry_only_is_pulled_there_too() -> None:
    name = "acme/vllm@sha256:aaaa"
    docker = Docker({f"m.example/{name}": [ARM], name: [ARM]})
    order = replace(ORDER, name=name, reference=name, mirrors=["m.example"])
    assert Run(docker, order).result()["source"] == name
    assert docker.pulls == [f"m.example/{name}", name]


def test_d01_the_registry_is_asked_before_the_pull_and_the_tag_that_has_it_is_named() -> None:
    docker = Docker({})
    docker.manifests = {NAME: ["amd64"], "acme/vllm:1-arm64": ["arm64"]}
    assert Run(docker).error() == (
        "Found image acme/vllm:1 for linux/amd64 only, wanted linux/arm64. Set serving_image to acme/vllm:1-arm64."
    )
    assert docker.pulls == []


def test_d01_a_registry_that_cannot_be_asked_is_looked_at_after_the_pull() -> None:
    docker = Docker({NAME: [X86]})
    assert Run(docker).error().startswith("Found that image acme/vllm:1 is for amd64, wanted arm64.")
    assert NAME not in docker.images


def test_d01_an_update_to_another_architecture_leaves_the_image_that_was_there() -> None:
    docker = Docker({NAME: [X86]}, {NAME: ARM})
    assert "is for amd64" in Run(docker).error()
    assert docker.images[NAME] == ARM


def test_an_update_that_brings_nothing_newer_changes_nothing() -> None:
    assert Run(Docker({NAME: [ARM]}, {NAME: ARM})).result()["changed"] is False


def test_layers() -> None:
    layers = Layers()
    lines = [
        "1: Pulling from acme/vllm",
        "1234567890ab: Pulling fs layer",
        "234567890abc: Already exists",
        "34567890abcd: Waiting",
        "1234567890ab: Pull complete",
        "Digest: sha256:aaaa",
    ]
    assert [layers.read(line) for line in lines] == [False, True, True, True, True, False]
    assert layers.shown() == "2 of 3 layers"
