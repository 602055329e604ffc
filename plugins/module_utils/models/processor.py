# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model that sees needs beside its weights, and which model to take it from. Rule: field fault M10."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

PROCESSORS = ("preprocessor_config.json", "processor_config.json")
# Keys of config.json under which models keep their vision part.
_VISION_KEYS = ("vision_config", "visual", "vision_tower", "mm_vision_tower", "img_processor", "vit_config")
# Mistral's own layout describes image processing in these.
_MISTRAL = {"params.json", "tekken.json"}
_VISION_NAME = re.compile(r"VL(?![a-z])")
_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def sees(config: Mapping[str, Any]) -> bool:
    """Whether a model has a vision part."""
    # Models that also hear and speak keep the rest one level deeper.
    deeper = config.get("thinker_config")
    settings = {**(deeper if isinstance(deeper, Mapping) else {}), **config}
    if any(settings.get(key) not in (None, False, "") for key in _VISION_KEYS):
        return True
    names = config.get("architectures")
    return isinstance(names, list) and any(_VISION_NAME.search(str(name)) for name in names)


def lacks_processor(config: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether a model that sees has no file that says how images are prepared.

    :param names: files of the model's folder
    """
    there = set(names)
    return sees(config) and there.isdisjoint(PROCESSORS) and not there >= _MISTRAL


def base_model(config: Mapping[str, Any], readme: str, model: str) -> str:
    """Id of the model that this one was made from; nothing when neither its config nor its card says so.

    :param readme: the model card, with its front matter
    :param model: the model itself, which is no base
    """
    candidates = [str(config.get("_name_or_path") or ""), *_from_card(readme)]
    return next((name for name in candidates if _ID.fullmatch(name) and name != model), "")


def _from_card(readme: str) -> list[str]:
    """Values of ``base_model`` in a card's front matter: a word, or a list in either notation."""
    matter = re.match(r"---\s*\n(.*?)\n---", readme, re.DOTALL)
    entry = re.search(r"^base_model:(.*(?:\n[ \t]*- .*)*)", matter[1], re.MULTILINE) if matter else None
    words = re.split(r"[\s,\[\]]+", entry[1]) if entry else []
    return [word.strip("\"'") for word in words]
