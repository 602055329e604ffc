# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The format of ``vllm-rs bench serve --save-result``, the Rust program."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports import vllm
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import About, Read

NAME = "vllm-rs bench serve (Rust)"


def recognises(document: Mapping[str, Any]) -> bool:
    """It has the keys of the Python program, and the steady time, null or not."""
    return all(key in document for key in vllm.KEYS) and "steady_state" in document


def read(documents: Sequence[Mapping[str, Any]], about: About) -> Read:
    """All results of a file, one for each run of the tool that was appended to it."""
    first = documents[0]
    pieces = tuple(vllm.piece(document, about, _when(document)) for document in documents)
    return Read(
        tool=NAME,
        version=str(first.get("version") or ""),
        model=str(first["model_id"]),
        started=str(first.get("date")) if _when(first) is not None else None,
        pieces=pieces,
        notes=vllm.notes(documents, pieces),
    )


def _when(document: Mapping[str, Any]) -> float | None:
    """Its date is in UTC."""
    try:
        when = datetime.datetime.strptime(str(document.get("date")), "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return None
    return when.replace(tzinfo=datetime.timezone.utc).timestamp()
