# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 3: gated models, and models that lack small files. Input and expectation are those of the fault's row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import model_download
from ansible_collections.dgxspark.serving.plugins.module_utils.download import completion, refusal

TOKEN = "hf_EXAMPLEEXAMPLE"
ASKED = refusal.Asked("acme/gated", "huggingface")


def answered(status: int, token: bool, code: str = "GatedRepo") -> dict[str, Any]:
    """What the hub said to the first request, with words that quote the token."""
    text = f"{status} Client Error. Cannot access gated repo with Bearer {TOKEN}"
    kinds = ["GatedRepoError", "HfHubHTTPError"]
    return {"kinds": kinds, "status": status, "code": code, "text": text, "token": token, "began": False}


def test_m15_a_missing_token_and_one_that_is_not_allowed_are_told_apart() -> None:
    missing = refusal.sentence(ASKED, answered(401, token=False))
    refused = refusal.sentence(ASKED, answered(403, token=True))
    invalid = refusal.sentence(ASKED, answered(401, token=True, code=""))
    assert missing == (
        "A token is missing for acme/gated: accept its terms at https://huggingface.co/acme/gated, write a token of"
        " that account into a file, and set model_token_file to its path."
    )
    assert refused == (
        "The token is not allowed for acme/gated: accept its terms at https://huggingface.co/acme/gated with that"
        " account, or set model_token_file to a token of an account that may read it."
    )
    assert invalid == (
        "The token is not valid, Hugging Face refuses it for acme/gated: write a new one into model_token_file's file."
    )


@pytest.mark.parametrize("status", [0, 400, 401, 403, 404, 500])
@pytest.mark.parametrize("sent", [True, False])
def test_m15_the_token_is_in_no_message(status: int, sent: bool) -> None:
    assert TOKEN not in refusal.sentence(ASKED, answered(status, sent, code=""))


def action(tmp_path: Path, **arguments: Any) -> model_download.ActionModule:
    """The plugin, on a controller whose folder is given."""
    loader = MagicMock()
    loader.path_dwim = lambda name: str(tmp_path / name)
    task = MagicMock(args={"model": "acme/gated", **arguments}, async_val=0)
    return model_download.ActionModule(task, MagicMock(), MagicMock(), loader, MagicMock(), MagicMock())


def test_m15_the_token_of_the_controller_goes_to_the_host(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    assert action(tmp_path, token_file="token").arguments({}) == {"model": "acme/gated", "token": TOKEN}
    assert action(tmp_path).arguments({}) == {"model": "acme/gated"}


@pytest.mark.parametrize(
    ("content", "found"), [(None, "No such file or directory"), ("", "no token in it"), ("two words", "no token in it")]
)
def test_m15_a_token_file_without_a_token_is_refused(tmp_path: Path, content: str | None, found: str) -> None:
    if content is not None:
        (tmp_path / "token").write_text(content, encoding="utf-8")
    with pytest.raises(Exception, match="model_token_file") as caught:
        action(tmp_path, token_file="token").arguments({})
    assert str(caught.value) == (
        f"model_token_file is token, found {found} on the controller, wanted a file that holds a token of the hub and"
        " nothing else."
    )


def test_m10_the_processor_of_a_model_that_sees_is_looked_for_in_the_base() -> None:
    config = json.loads('{"architectures":["AcmeVLForConditionalGeneration"],"vision_config":{}}')
    names = ["config.json", "tokenizer.json", "model.safetensors"]
    wanted = completion.lacking(config, {}, names)
    assert {"preprocessor_config.json", "processor_config.json"} <= set(wanted)
    assert not {"tokenizer.json", "config.json", "merges.txt"} & set(wanted)
    text_only = completion.lacking({"architectures": ["AcmeForCausalLM"]}, {}, names)
    assert not {"preprocessor_config.json", "processor_config.json"} & set(text_only)
