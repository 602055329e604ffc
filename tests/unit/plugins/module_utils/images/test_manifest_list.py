# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For which machines a registry has an image, in the words of ``docker manifest inspect``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images import manifest_list


def entry(architecture: str, os: str = "linux", **more: str) -> dict[str, Any]:
    return {"digest": "sha256:1", "size": 523, "platform": {"architecture": architecture, "os": os, **more}}


INDEX = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.index.v1+json",
    "manifests": [entry("amd64"), entry("arm64", variant="v8"), entry("unknown", "unknown")],
}
ONE_MACHINE = {**INDEX, "mediaType": "application/vnd.docker.distribution.manifest.list.v2+json"}
PLAIN = {"schemaVersion": 2, "config": {"size": 242, "digest": "sha256:2"}, "layers": []}
VERBOSE = {"Ref": "acme/vllm:1", "Descriptor": entry("amd64"), "SchemaV2Manifest": PLAIN}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (INDEX, ["linux/amd64", "linux/arm64"]),
        ({**ONE_MACHINE, "manifests": [entry("amd64")]}, ["linux/amd64"]),
        (PLAIN, None),
        (VERBOSE, ["linux/amd64"]),
        ([VERBOSE, {**VERBOSE, "Descriptor": entry("arm64")}], ["linux/amd64", "linux/arm64"]),
        ({**VERBOSE, "Descriptor": {"digest": "sha256:1"}}, None),
    ],
    ids=["index", "list", "plain manifest", "verbose", "verbose list", "verbose without a platform"],
)
def test_d01_platforms(said: Any, expected: list[str] | None) -> None:
    assert manifest_list.platforms(json.dumps(said)) == expected


def test_what_is_no_json_is_no_answer() -> None:
    with pytest.raises(ValueError):
        manifest_list.platforms("no such manifest")


@pytest.mark.parametrize(
    ("tag", "architecture", "expected"),
    [
        ("v1", "arm64", ["v1-aarch64", "v1-arm64"]),
        ("v1-x86_64", "arm64", ["v1-aarch64", "v1-arm64", "v1"]),
        ("v1-arm64", "amd64", ["v1-x86_64", "v1-amd64", "v1"]),
        ("v1", "riscv64", []),
    ],
)
def test_likely_tags(tag: str, architecture: str, expected: list[str]) -> None:
    assert manifest_list.likely_tags(tag, architecture) == expected


@pytest.mark.parametrize(
    ("other", "remedy"),
    [
        ("acme/vllm:1-aarch64", "Set serving_image to acme/vllm:1-aarch64."),
        ("", "Set serving_image to a tag that has arm64."),
    ],
)
def test_d01_the_refusal_names_what_there_is(other: str, remedy: str) -> None:
    said = manifest_list.refusal("acme/vllm:1", ["linux/amd64", "linux/ppc64le"], "arm64", other)
    assert said == f"Found image acme/vllm:1 for linux/amd64, linux/ppc64le only, wanted linux/arm64. {remedy}"
