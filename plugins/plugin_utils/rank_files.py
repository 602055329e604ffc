# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that a host needs for its ranks, as this collection brings them: read on the controller."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

COLLECTION = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class RankFiles:
    """Their contents.

    :ivar program: the supervisor as a zip application
    :ivar ray_rank: the program that starts Ray inside a rank's container
    :ivar unit: the systemd unit of all ranks
    """

    program: bytes
    ray_rank: bytes
    unit: bytes


@cache
def rank_files() -> RankFiles:
    """Read them, once in a process."""
    # Building is of no use to those who only look, and takes all of the supervisor's sources.
    from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import build

    return RankFiles(
        program=build.build(),
        ray_rank=(COLLECTION / "plugins/module_utils/engines/ray_rank.py").read_bytes(),
        unit=(COLLECTION / "roles/replica/files/dgxspark-replica@.service").read_bytes(),
    )
