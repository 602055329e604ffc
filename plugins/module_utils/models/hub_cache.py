# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a Hugging Face cache may lie, and where in it a model does. Rules: facts.md "Model caches", field fault M04."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from ansible_collections.dgxspark.serving.plugins.module_utils.models.roots import below, in_order

_HUB = "hub"
_WITHIN = re.compile(r"(?P<root>/.*)/models--(?P<org>.+?)--(?P<name>[^/]+)(?:/snapshots/(?P<revision>[^/]+))?")


def roots(explicit: str, environ: Mapping[str, str], home: str) -> list[str]:
    """Folders that may hold models, in the order in which huggingface_hub looks; then those of its older layouts.

    :param explicit: the folder that the user names, or nothing; the one that holds ``hub`` will do, too
    :param environ: environment of the user who owns the cache
    :param home: that user's home folder
    """
    xdg = below(environ, "XDG_CACHE_HOME", "huggingface")
    homes = [folder for folder in (environ.get("HF_HOME", ""), xdg, "~/.cache/huggingface") if folder]
    return in_order(
        [
            explicit,
            posixpath.join(explicit, _HUB) if explicit else "",
            environ.get("HF_HUB_CACHE", ""),
            environ.get("HUGGINGFACE_HUB_CACHE", ""),
            *(posixpath.join(folder, _HUB) for folder in homes),
            environ.get("TRANSFORMERS_CACHE", ""),
            *homes,
            *(posixpath.join(folder, "transformers") for folder in homes),
        ],
        home,
    )


def folder(model: str) -> str:
    """Name of a model's folder in the cache.

    >>> folder("Qwen/Qwen3-0.6B")
    'models--Qwen--Qwen3-0.6B'
    """
    return "models--" + model.replace("/", "--")


def settings_for(path: str) -> str:
    """What to set instead of a path into a cache; nothing for another path.

    >>> settings_for("/data/hub/models--acme--tiny")
    'serving_model: acme/tiny, model_cache_dir: /data/hub'
    """
    match = _WITHIN.fullmatch(path)
    if match is None:
        return ""
    revision = f", serving_model_revision: {match['revision']}" if match["revision"] else ""
    return f"serving_model: {match['org']}/{match['name']}, model_cache_dir: {match['root']}{revision}"
