# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a download failed, and what to do, in a sentence that holds no token (field fault M15). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PAGES = {"huggingface": "https://huggingface.co", "modelscope": "https://modelscope.cn/models"}
_ELSEWHERE = {
    "huggingface": "set model_hf_endpoint to a mirror that can be reached",
    "modelscope": "let the host reach it",
}
_TITLES = {"huggingface": "Hugging Face", "modelscope": "ModelScope"}
# Tokens of Hugging Face and of ModelScope, wherever a library quotes one, and whatever stands behind "Bearer".
_TOKEN = re.compile(r"\b(?:hf|ms)[_-][A-Za-z0-9-]{6,}|(?<=[Bb]earer )\S+")
# Of httpx, requests, urllib3, Xet, and of Python and the system below them.
_CONNECTION = re.compile(
    r"TransportError|ConnectionError|TimeoutException|Timeout|NetworkError|OfflineMode|LocalEntryNotFound"
    r"|IncompleteRead|ChunkedEncodingError|FileDownloadError|Name or service not known|name resolution"
    r"|No address associated|Network is unreachable|No route to host|Connection re|timed out|dns error"
    r"|error sending request|CAS service|Consistency check failed|CERTIFICATE_VERIFY"
)
_DAMAGED = re.compile(r"HashMismatch|FileIntegrityError|FileSizeMismatchError|hash mismatch", re.IGNORECASE)
_FULL = re.compile(r"No space left on device|Not enough free disk space|Disk quota exceeded")


@dataclass(frozen=True)
class Asked:
    """What was asked for.

    :ivar model: the repository's id
    :ivar hub: ``huggingface`` or ``modelscope``
    :ivar revision: empty for the default one
    :ivar endpoint: empty for the hub's own
    """

    model: str
    hub: str
    revision: str = ""
    endpoint: str = ""


def sentence(asked: Asked, said: Mapping[str, Any]) -> str:
    """What to tell an operator.

    :param said: the driver's words: ``kinds`` (class names of the error), ``status`` and ``code`` of the hub's answer,
        ``text``, ``token``, whether one was sent, and ``began``, whether the hub had answered before
    """
    kinds = " ".join(said["kinds"])
    text = " ".join(str(said["text"]).split())
    answer = _of_status(asked, int(said["status"] or 0), str(said["code"] or ""), kinds, bool(said["token"]))
    return masked(answer or _of_words(asked, f"{kinds} {text}", text, bool(said["began"])))


def broke_off(said: Mapping[str, Any]) -> bool:
    """Whether a download that had begun lost its connection, so that another attempt may go on."""
    words = f"{' '.join(said['kinds'])} {said['text']}"
    other = _FULL.search(words) or _DAMAGED.search(words) or (said["status"] and said["status"] < 500)
    return bool(said["began"] and not other and (said["status"] or _CONNECTION.search(words)))


def masked(text: str, token: str = "") -> str:
    """A text without tokens: without this one, and without what looks like one."""
    hidden = text.replace(token, "***") if token else text
    return _TOKEN.sub("***", hidden)


def _place(asked: Asked) -> str:
    return asked.endpoint or _TITLES[asked.hub]


def _of_status(asked: Asked, status: int, code: str, kinds: str, token: bool) -> str:
    """The sentence for what the hub answered; nothing when that says no more than its words."""
    model, place = asked.model, _place(asked)
    page = f"{PAGES[asked.hub]}/{model}"
    if code == "RevisionNotFound" or "RevisionNotFound" in kinds:
        return f"{place} has no revision {asked.revision or 'main'} of {model}: correct serving_model_revision."
    if token and status == 403:
        return (
            f"The token is not allowed for {model}: accept its terms at {page} with that account, or set"
            " model_token_file to a token of an account that may read it."
        )
    if token and status == 401 and code != "RepoNotFound":
        return f"The token is not valid, {place} refuses it for {model}: write a new one into model_token_file's file."
    if status == 403 or code == "GatedRepo":
        return (
            f"A token is missing for {model}: accept its terms at {page}, write a token of that account into a file,"
            " and set model_token_file to its path."
        )
    if status == 401 and not token:
        return (
            f"A token is missing for {model}, or {place} has no such model: correct serving_model, or set"
            " model_token_file to the path of a file with a token."
        )
    if status in (401, 404) or "RepositoryNotFound" in kinds or "NotExistError" in kinds:
        at = f" at revision {asked.revision}" if asked.revision else ""
        seen = " that this token may see" if token else ""
        return f"{place} has no model {model}{at}{seen}: correct serving_model, or serving_model_hub."
    if status == 429:
        return f"{place} answers too many requests (429): wait some minutes and run again, or set model_token_file."
    if status >= 500:
        return f"{place} is out of order ({status}): run again later."
    return ""


def _of_words(asked: Asked, words: str, text: str, began: bool) -> str:
    """The sentence for an error that is no answer of the hub."""
    model, place = asked.model, _place(asked)
    if _FULL.search(words):
        return f"The disk is full while {model} is downloaded: make room, or set model_cache_dir, and run again."
    if _DAMAGED.search(words):
        return f"A file of {model} did not arrive as {place} has it: run again, it is downloaded anew."
    if _CONNECTION.search(words) and began:
        return f"The connection to {place} broke off while {model} was downloaded: run again, it goes on where it was."
    if _CONNECTION.search(words):
        return (
            f"{model} is not complete on any host, and {place} cannot be reached from here: copy it into a host's"
            f" cache, or {_ELSEWHERE[asked.hub]}."
        )
    if "PermissionError" in words:
        return f"{model} cannot be written: {text}. Let the login user own the cache, or set model_cache_dir."
    return f"{model} cannot be downloaded from {place}: {text.rstrip('.')[:300]}. Run again, it goes on where it was."
