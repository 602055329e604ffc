# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a Hugging Face cache lies, and where in it a model does. Rules: facts.md "Model caches", field fault M04."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence


def root(explicit: str, environ: Mapping[str, str], home: str) -> str:
    """The cache folder, in the order in which huggingface_hub looks.

    :param explicit: the folder that the user names, or nothing
    :param environ: environment of the user who owns the cache
    :param home: that user's home folder
    """
    candidates = (
        explicit,
        environ.get("HF_HUB_CACHE", ""),
        environ.get("HUGGINGFACE_HUB_CACHE", ""),
        posixpath.join(environ["HF_HOME"], "hub") if environ.get("HF_HOME") else "",
        posixpath.join(environ["XDG_CACHE_HOME"], "huggingface/hub") if environ.get("XDG_CACHE_HOME") else "",
        "~/.cache/huggingface/hub",
    )
    chosen = next(filter(None, candidates))
    return posixpath.join(home, chosen[2:]) if chosen.startswith("~/") else chosen


def folder(model: str) -> str:
    """Name of a model's folder in the cache.

    >>> folder("Qwen/Qwen3-0.6B")
    'models--Qwen--Qwen3-0.6B'
    """
    return "models--" + model.replace("/", "--")


def snapshot(reference: str, snapshots: Sequence[str]) -> str:
    """The snapshot to serve, or nothing when there is none or the choice is not clear.

    :param reference: what ``refs/main`` holds; nothing when there is no such file
    :param snapshots: names of the folders under ``snapshots``
    """
    if reference:
        return reference if reference in snapshots else ""
    return snapshots[0] if len(snapshots) == 1 else ""
