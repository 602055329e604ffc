# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may call a model."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import reference


@pytest.mark.parametrize(
    ("text", "hub", "served", "mount", "argument"),
    [
        ("/srv/models/tiny/", "huggingface", "tiny", "/models/tiny", "/models/tiny"),
        ("/srv/models/tiny", "modelscope", "tiny", "/models/tiny", "/models/tiny"),
        ("Qwen/Qwen3.5-35B-A3B", "huggingface", "Qwen/Qwen3.5-35B-A3B", "/models/hub", "Qwen/Qwen3.5-35B-A3B"),
        ("Acme/Tiny-1.5B", "modelscope", "Acme/Tiny-1.5B", "/models/Acme--Tiny-1.5B", "/models/Acme--Tiny-1.5B"),
    ],
)
def test_parse(text: str, hub: str, served: str, mount: str, argument: str) -> None:
    model = reference.parse(text, hub)
    assert (model.served_name, model.mount, model.argument) == (served, mount, argument)
    assert model.hub == ("path" if text.startswith("/") else hub)


def test_an_id_is_one_of_hugging_face_unless_told() -> None:
    assert reference.parse("acme/tiny") == reference.ModelReference("acme/tiny", "huggingface")


@pytest.mark.parametrize("text", ["/", "./tiny", "tiny", "a/b/c", "a b/c", "~/models/tiny", "-x/y", "org/"])
def test_refused(text: str) -> None:
    with pytest.raises(ValueError):
        reference.parse(text)
