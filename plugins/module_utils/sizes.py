# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of files as people read them."""

from __future__ import annotations


def size(number: int) -> str:
    """Bytes in words, in powers of 1000 as disks are sold.

    >>> size(35_200_000_000), size(42_000_000), size(900)
    ('35.2 GB', '42 MB', '1 kB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6)):
        if number >= factor:
            return f"{number / factor:.{1 if unit == 'GB' else 0}f} {unit}"
    return f"{-(-number // 1000)} kB"
