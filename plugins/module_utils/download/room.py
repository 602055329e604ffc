# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the disk has room for a download, said before its first byte (field fault M08). Pure."""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size

# Bytes that stay free: a disk that is full to the brim breaks everything else on the host.
RESERVE = 1 << 30


def too_small(what: str, missing: int, free: int | None, folder: str) -> str:
    """Why a download cannot be begun; nothing when it can.

    :param what: the model
    :param missing: bytes still to come
    :param free: bytes that the file system has for this user; None when it does not say
    :param folder: where they would go
    """
    if free is None or missing == 0 or missing + RESERVE <= free:
        return ""
    return (
        f"{what} needs {size(missing)} more and {size(RESERVE)} to spare, found {size(free)} free in {folder}:"
        " make room, or set model_cache_dir to a folder on a larger disk."
    )


def unknown(free: int | None, folder: str) -> str:
    """A warning when the file system does not say how much is free."""
    return "" if free is not None else f"The file system of {folder} does not say how much is free; downloading anyway."
