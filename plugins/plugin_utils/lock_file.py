# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock file on the controller."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.images import lock


class LockFileError(Exception):
    """The file cannot be used; the text is for the user."""


def read_lock_file(name: str) -> dict[str, dict[str, Any]]:
    """Its entries by image name; none when there is no file, or no name.

    :raises LockFileError: when it cannot be read, or is none
    """
    if not name:
        return {}
    path = Path(name).expanduser()
    try:
        return lock.read(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise LockFileError(f"image_lock_file {path} cannot be read: {error}. Correct its permissions.") from error
    except yaml.YAMLError as error:
        said = "it is not YAML: " + " ".join(str(error).split())[:200]
        raise LockFileError(_unusable(path, said)) from error
    except lock.NotALock as error:
        raise LockFileError(_unusable(path, str(error))) from error


def _unusable(path: Path, said: str) -> str:
    return f"image_lock_file {path} cannot be used: {said}. Correct it, or remove it to have it written anew."


def write_lock_file(name: str, locks: Mapping[str, Mapping[str, Any]]) -> None:
    """Write it as a whole.

    :raises LockFileError: when it cannot be written
    """
    path = Path(name).expanduser()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    # Ansible's own kinds of text and lists become plain ones.
    plain = json.loads(json.dumps({known: locks[known] for known in sorted(locks)}))
    text = lock.HEADER + yaml.safe_dump(plain, sort_keys=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise LockFileError(f"image_lock_file {path} cannot be written: {error}. Name a file that can.") from error
