# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room on the disk, before the first byte."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.download import room


@pytest.mark.parametrize(
    ("missing", "free", "refused"),
    [
        (4_100_000_000, 1_200_000_000, True),
        (4_100_000_000, 4_100_000_000, True),
        (4_100_000_000, 4_100_000_000 + room.RESERVE, False),
        (4_100_000_000, None, False),
        (0, 0, False),
    ],
)
def test_what_is_missing_must_fit_with_something_to_spare(missing: int, free: int | None, refused: bool) -> None:
    assert bool(room.too_small("acme/tiny", missing, free, "/data/hub")) is refused


def test_the_words() -> None:
    assert room.too_small("acme/tiny", 4_100_000_000, 1_200_000_000, "/data/hub") == (
        "acme/tiny needs 4.1 GB more and 1.1 GB to spare, found 1.2 GB free in /data/hub:"
        " make room, or set model_cache_dir to a folder on a larger disk."
    )
    assert room.unknown(None, "/nas") == ("The file system of /nas does not say how much is free; downloading anyway.")
    assert room.unknown(0, "/nas") == ""
