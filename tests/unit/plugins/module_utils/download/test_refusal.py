# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator is told when a download fails."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.download import refusal

ASKED = refusal.Asked("acme/tiny", "huggingface")
MIRROR = refusal.Asked("acme/tiny", "huggingface", "v2", "http://mirror.example")


def said(*kinds: str, status: int = 0, code: str = "", text: str = "", token: bool = False, began: bool = False) -> Any:
    """What the program says of an error."""
    return {"kinds": list(kinds), "status": status, "code": code, "text": text, "token": token, "began": began}


@pytest.mark.parametrize(
    ("asked", "words", "sentence"),
    [
        (
            MIRROR,
            said("RevisionNotFoundError", status=404, code="RevisionNotFound", token=True),
            "http://mirror.example has no revision v2 of acme/tiny: correct serving_model_revision.",
        ),
        (
            ASKED,
            said("RepositoryNotFoundError", status=401, code="RepoNotFound"),
            (
                "A token is missing for acme/tiny, or Hugging Face has no such model: correct serving_model, or set"
                " model_token_file to the path of a file with a token."
            ),
        ),
        (
            ASKED,
            said("RepositoryNotFoundError", status=404, code="RepoNotFound", token=True),
            "Hugging Face has no model acme/tiny that this token may see: correct serving_model, or serving_model_hub.",
        ),
        (
            refusal.Asked("acme/tiny", "modelscope", "v2"),
            said("NotExistError", status=404),
            "ModelScope has no model acme/tiny at revision v2: correct serving_model, or serving_model_hub.",
        ),
        (
            ASKED,
            said("HfHubHTTPError", status=429),
            "Hugging Face answers too many requests (429): wait some minutes and run again, or set model_token_file.",
        ),
        (
            ASKED,
            said("HfHubHTTPError", status=503),
            "Hugging Face is out of order (503): run again later.",
        ),
        (
            ASKED,
            said("ConnectError", text="[Errno -2] Name or service not known"),
            (
                "acme/tiny is not complete on any host, and Hugging Face cannot be reached from here: copy it"
                " into a host's cache, or set model_hf_endpoint to a mirror that can be reached."
            ),
        ),
        (
            refusal.Asked("acme/tiny", "modelscope"),
            said("NetworkError", text="Max retries exceeded"),
            (
                "acme/tiny is not complete on any host, and ModelScope cannot be reached from here: copy it"
                " into a host's cache, or let the host reach it."
            ),
        ),
        (
            ASKED,
            said("ReadTimeout", "TimeoutException", text="timed out", began=True),
            (
                "The connection to Hugging Face broke off while acme/tiny was downloaded: run again, it goes"
                " on where it was."
            ),
        ),
        (
            ASKED,
            said("OSError", text="[Errno 28] No space left on device", began=True),
            "The disk is full while acme/tiny is downloaded: make room, or set model_cache_dir, and run again.",
        ),
        (
            ASKED,
            said("HashMismatch", text="hash mismatch of model.safetensors", began=True),
            "A file of acme/tiny did not arrive as Hugging Face has it: run again, it is downloaded anew.",
        ),
        (
            ASKED,
            said("PermissionError", "OSError", text="[Errno 13] Permission denied: '/data/hub/models--acme--tiny'"),
            (
                "acme/tiny cannot be written: [Errno 13] Permission denied: '/data/hub/models--acme--tiny'."
                " Let the login user own the cache, or set model_cache_dir."
            ),
        ),
        (
            ASKED,
            said("KeyError", text="'sha'"),
            "acme/tiny cannot be downloaded from Hugging Face: 'sha'. Run again, it goes on where it was.",
        ),
    ],
)
def test_sentences(asked: refusal.Asked, words: Any, sentence: str) -> None:
    assert refusal.sentence(asked, words) == sentence


@pytest.mark.parametrize(
    ("words", "again"),
    [
        (said("ReadError", "NetworkError", "TransportError", began=True), True),
        (said("HfHubHTTPError", status=502, began=True), True),
        (said("ConnectError", "TransportError"), False),
        (said("HfHubHTTPError", status=403, began=True), False),
        (said("OSError", text="No space left on device", began=True), False),
        (said("HashMismatch", text="hash mismatch of a", began=True), False),
        (said("KeyError", text="'sha'", began=True), False),
    ],
)
def test_another_attempt_is_made_when_a_connection_broke_off(words: Any, again: bool) -> None:
    assert refusal.broke_off(words) is again


@pytest.mark.parametrize(
    "text",
    [
        "Bearer abcdef0123456789abcdef",
        "token hf_AbCdEfGhIjKlMnOp is bad",
        "ms-01234567-89ab-cdef",
        "headers {'authorization': 'Bearer 12345678'}",
    ],
)
def test_tokens_are_hidden(text: str) -> None:
    assert "***" in refusal.masked(text)
    for piece in ("abcdef0123456789abcdef", "hf_AbCd", "ms-0123", "12345678"):
        assert piece not in refusal.masked(text)


def test_a_token_of_another_kind_is_hidden_when_it_is_known() -> None:
    assert refusal.masked("found secret word", "secret") == "found *** word"
