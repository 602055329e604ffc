# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where ModelScope keeps models. Rules: facts.md "Model caches", field faults M12 and M13.

Its versions differ: ``hub/ORG/NAME``, then ``hub/models/ORG/NAME``, both with ``___`` for each dot, and since 2.0
``models/ORG--NAME/snapshots/REVISION``; with MODELSCOPE_CACHE set there is no ``hub``.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from ansible_collections.dgxspark.serving.plugins.module_utils.models.roots import in_order

_DEFAULT = "~/.cache/modelscope"
# What ModelScope takes when no revision is asked for, in its order.
DEFAULT_REVISIONS = ("master", "main")


def roots(explicit: str, environ: Mapping[str, str], home: str) -> list[str]:
    """Folders that may hold ``models``, or the organisations themselves.

    :param explicit: the folder that the user names, or nothing
    :param environ: environment of the user who owns the cache
    :param home: that user's home folder
    """
    named = [folder for folder in (explicit, environ.get("MODELSCOPE_CACHE", "")) if folder]
    both = [path for folder in named for path in (folder, posixpath.join(folder, "hub"))]
    return in_order([*both, posixpath.join(_DEFAULT, "hub"), _DEFAULT], home)


def spelled(model: str) -> str:
    """An id as ModelScope writes it on disk.

    >>> spelled("Acme/Tiny-1.5B-Chat")
    'Acme/Tiny-1___5B-Chat'
    """
    return model.replace(".", "___")


def folders(root: str, model: str) -> list[str]:
    """Where a model may lie in a root, the likeliest first; all files are in the folder itself."""
    spellings = dict.fromkeys((spelled(model), model))
    return [posixpath.join(root, kind, name) for kind in ("models", "") for name in spellings]


def snapshots(root: str, model: str) -> str:
    """Where the snapshots of a model lie in a root, as ModelScope 2.0 writes them."""
    return posixpath.join(root, "models", model.replace("/", "--"), "snapshots")


def new_folder(root: str, model: str) -> str:
    """Where to put a model that is not there: all versions of ModelScope find it."""
    return folders(root, model)[0]
