# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove what nobody needs any more: an edge, it deletes."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Iterable
from contextlib import suppress

from ansible_collections.dgxspark.serving.plugins.module_utils.models import leftovers, shared_blobs


def remove(root: str, left: Iterable[leftovers.Leftover]) -> tuple[int, list[str]]:
    """Remove leftovers, in their order.

    A snapshot that cannot be removed keeps its manifest and all blobs, for it may need them.

    :param root: the Hugging Face cache
    :return: bytes that this freed, and for each path that cannot be removed, why
    """
    freed, failures = 0, []
    for one in left:
        if failures and one.kind in (leftovers.BLOB, leftovers.SHARED, leftovers.MANIFEST):
            continue
        try:
            freed += shared_blobs.sweep(root, one.path) if one.kind == leftovers.SHARED else _delete(one)
        except OSError as error:
            failures.append(_words(error, one.path))
    return freed, failures


def _delete(one: leftovers.Leftover) -> int:
    with suppress(FileNotFoundError):
        if os.path.isdir(one.path) and not os.path.islink(one.path):
            shutil.rmtree(one.path)
        else:
            os.unlink(one.path)
        return one.size
    return 0


def _words(error: OSError, path: str) -> str:
    """The error, and whose the folder is in which nothing can be removed."""
    at = str(error.filename or path)
    try:
        uid = os.stat(os.path.dirname(at)).st_uid
        owner = pwd.getpwuid(uid).pw_name
    except OSError:
        return f"{at} ({error.strerror})"
    except KeyError:
        owner = str(uid)
    return f"{at} ({error.strerror}; its folder belongs to {owner})"
