# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of files in folders such as ``/etc/sysctl.d`` and ``/usr/lib/sysctl.d``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def ordered(paths: Iterable[str], folders: Sequence[str]) -> list[str]:
    """The files that count, first read first.

    Of files of one name the one in the first folder counts, also when it is empty or a link to ``/dev/null``; the rest
    goes by name, whatever the folder.

    :param folders: the strongest first
    """
    chosen: dict[str, str] = {}
    here = set(paths)
    for folder in reversed(folders):
        for path in here:
            parent, _slash, name = path.rpartition("/")
            if parent == folder and name.endswith(".conf"):
                chosen[name] = path
    return [chosen[name] for name in sorted(chosen)]
