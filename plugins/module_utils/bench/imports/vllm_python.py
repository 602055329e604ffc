# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The format of ``vllm bench serve --save-result``, the Python program."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports import vllm
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.imports.foreign import About, Read

NAME = "vllm bench serve (Python)"


def recognises(document: Mapping[str, Any]) -> bool:
    """Its date has no separators, and it has no steady time."""
    return all(key in document for key in vllm.KEYS) and "steady_state" not in document


def read(documents: Sequence[Mapping[str, Any]], about: About) -> Read:
    """All results of a file, one for each run of the tool that was appended to it."""
    first = documents[0]
    pieces = tuple(vllm.piece(document, about, None) for document in documents)
    return Read(
        tool=NAME,
        # The version is not in it, but for what the user gave with --metadata.
        version=str(first.get("version") or ""),
        model=str(first["model_id"]),
        # Its date is in the local time of a machine that is not known.
        started=None,
        pieces=pieces,
        notes=(*vllm.notes(documents, pieces), *_date(str(first.get("date") or ""))),
    )


def _date(text: str) -> list[str]:
    try:
        when = datetime.datetime.strptime(text, "%Y%m%d-%H%M%S")
    except ValueError:
        return []
    return [f"Measured on {when:%Y-%m-%d at %H:%M:%S}, in the local time of the machine that measured."]
