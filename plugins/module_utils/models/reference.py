# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may call a model, and where it lies inside the container."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

# ORG/NAME as the Hugging Face hub allows it.
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)

MOUNT_ROOT = "/models"
# The cache is mounted whole: a snapshot's files are links into blobs/ beside it (field fault M16).
HUB_MOUNT = f"{MOUNT_ROOT}/hub"


@dataclass(frozen=True)
class ModelReference:
    """A model by the path of its folder on the host, or by its id in the host's Hugging Face cache.

    :ivar text: as the user wrote it
    :ivar is_path: whether it is a path
    """

    text: str
    is_path: bool

    @property
    def served_name(self) -> str:
        """The name clients use unless another is set: the id, or the last part of the path."""
        return posixpath.basename(self.text) if self.is_path else self.text

    @property
    def mount(self) -> str:
        """Where the model's folder, or the whole cache, appears in the container."""
        return f"{MOUNT_ROOT}/{posixpath.basename(self.text)}" if self.is_path else HUB_MOUNT

    @property
    def argument(self) -> str:
        """What the engine is given as its model."""
        return self.mount if self.is_path else self.text


def parse(text: str) -> ModelReference:
    """Read a model reference.

    :raises ValueError: when it is neither an absolute path below ``/`` nor an ``ORG/NAME`` id
    """
    if text.startswith("/"):
        path = posixpath.normpath(text)
        if posixpath.basename(path):
            return ModelReference(path, is_path=True)
    elif _HUB_ID.fullmatch(text):
        return ModelReference(text, is_path=False)
    raise ValueError(text)
