# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's own answers."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import paths

ERRORS = [
    paths.NO_KEY,
    paths.WRONG_KEY,
    paths.NO_PATH,
    paths.QUEUE_FULL,
    paths.SHORT_OF_MEMORY,
    *paths.OWN_ERRORS.values(),
    paths.too_large(5),
    paths.no_length(16_384),
    paths.no_model(1 << 20, ["a"]),
    paths.unknown_model(["a", "b"]),
]


@pytest.mark.parametrize("text", ERRORS)
def test_errors_have_openais_shape(text: str) -> None:
    error = json.loads(text)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"].endswith(".")
    assert "'" not in text  # HAProxy and nginx quote with it


def test_an_unknown_model_lists_the_models() -> None:
    assert "Models: a, b." in json.loads(paths.unknown_model(["a", "b"]))["error"]["message"]


def test_models() -> None:
    assert [each["id"] for each in json.loads(paths.models(["a", "org/b"]))["data"]] == ["a", "org/b"]


@pytest.mark.parametrize(("path", "route"), [("/v1/x", ("/v1/x", False)), ("/v1/audio/*", ("/v1/audio/", True))])
def test_further_paths(path: str, route: tuple[str, bool]) -> None:
    assert [(each.path, each.prefix) for each in paths.further([path])] == [route]
