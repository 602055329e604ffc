# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A token of a hub as people keep it in a file. Pure."""

from __future__ import annotations


def of_file(text: str) -> str:
    """The token in a file: its one line with anything on it.

    :raises ValueError: there is none, or more than one word; the text of the error holds none of it
    """
    words = text.split()
    if len(words) != 1:
        raise ValueError(f"{len(words)} words")
    return words[0]
