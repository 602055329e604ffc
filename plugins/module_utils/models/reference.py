# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may call a model, and where it lies inside the container."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

# ORG/NAME as the hubs allow it.
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)

HUGGING_FACE = "huggingface"
MODEL_SCOPE = "modelscope"
PATH = "path"

MOUNT_ROOT = "/models"
# The cache is mounted whole: a snapshot's files are links into blobs/ beside it (field fault M16).
HUB_MOUNT = f"{MOUNT_ROOT}/hub"


@dataclass(frozen=True)
class ModelReference:
    """A model by the path of its folder on the host, or by its id in one of the host's caches.

    :ivar text: as the user wrote it
    :ivar hub: ``huggingface`` or ``modelscope`` for an id, else ``path``
    """

    text: str
    hub: str

    @property
    def is_path(self) -> bool:
        """Whether the user named a folder."""
        return self.hub == PATH

    @property
    def served_name(self) -> str:
        """The name clients use unless another is set: the id, or the last part of the path."""
        return posixpath.basename(self.text) if self.is_path else self.text

    @property
    def mount(self) -> str:
        """Where the model's folder, or the whole Hugging Face cache, appears in the container."""
        if self.hub == HUGGING_FACE:
            return HUB_MOUNT
        return f"{MOUNT_ROOT}/{self.served_name.replace('/', '--')}"

    @property
    def argument(self) -> str:
        """What the engine is given as its model."""
        return self.text if self.hub == HUGGING_FACE else self.mount


def parse(text: str, hub: str = HUGGING_FACE) -> ModelReference:
    """Read a model reference.

    :param hub: the hub that an id belongs to
    :raises ValueError: when it is neither an absolute path below ``/`` nor an ``ORG/NAME`` id
    """
    if text.startswith("/"):
        path = posixpath.normpath(text)
        if posixpath.basename(path):
            return ModelReference(path, PATH)
    elif _HUB_ID.fullmatch(text):
        return ModelReference(text, hub)
    raise ValueError(text)
