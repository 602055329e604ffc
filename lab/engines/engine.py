# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine of the lab is to the rest of the lab, and the tiny models that all of them serve."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from lab.cache import cached, content_key
from lab.engines import tiny_model
from lab.engines.tiny_model import write_model

MODEL_HOME = "/srv/models"
DENSE, MIXTURE = "tiny-qwen3", "tiny-qwen3-moe"

#: The collection refuses any other: this is the lab's stand-in for a GB10, the programs inside are for this machine.
IMAGE_ARCHITECTURE = "arm64"


class Engine(Protocol):
    """An engine image and what is needed to serve with it."""

    @property
    def reference(self) -> str:
        """The image's name and tag."""

    def archive(self) -> Path:
        """Return the image as an uncompressed docker-archive; builds it if it is not cached."""

    def models(self) -> dict[str, Path]:
        """Return model folders by their name; makes them if they are not cached."""

    def host_vars(self) -> dict[str, object]:
        """Return the inventory variables that deploy this engine with its first model."""


def tiny_models() -> dict[str, Path]:
    """Return the folders of the tiny dense and mixture-of-experts models."""
    key = content_key(Path(tiny_model.__file__))

    def write_both(folder: Path) -> None:
        write_model(folder / DENSE)
        write_model(folder / MIXTURE, mixture=True)

    folder = cached("models", key, write_both)
    return {name: folder / name for name in (DENSE, MIXTURE)}


def serving_vars(reference: str) -> dict[str, object]:
    """Return the inventory variables for an image of this name that serves the tiny dense model."""
    return {
        "serving_image": reference,
        "serving_model": f"{MODEL_HOME}/{DENSE}",
        "serving_served_model_name": DENSE,
        "serving_engine_args": {"enforce-eager": True, "max-model-len": 2048, "max-num-seqs": 16},
        # There is no RDMA in the lab, and all hosts share one machine's memory.
        "serving_transport": "socket",
        "serving_gpu_memory_utilization": 0.1,
        "replica_memory_floor": 1,
    }
