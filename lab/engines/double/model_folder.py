# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The MODEL argument: a folder with config.json, or an id of a hub."""

from __future__ import annotations

import json
import os
import re

from .serve_parser import UsageError

MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
DEFAULT_CONTEXT = 4096


def context_length(model: str) -> int:
    """Return the longest context (tokens) that the model's configuration allows; raises UsageError for no model."""
    if os.path.isdir(model):
        try:
            with open(os.path.join(model, "config.json"), encoding="utf-8") as stream:
                config = json.load(stream)
            length = config.get("max_position_embeddings", DEFAULT_CONTEXT)
            if not isinstance(length, int):
                raise ValueError("max_position_embeddings is no number")
        except (OSError, ValueError, AttributeError) as error:
            raise UsageError(f"Can't load the configuration of {model!r}: {error}") from None
        return length
    if os.path.isabs(model) or not MODEL_ID.fullmatch(model):
        raise UsageError(f"{model!r} is neither a folder with a config.json file nor a repo id of the form 'org/name'")
    return DEFAULT_CONTEXT
