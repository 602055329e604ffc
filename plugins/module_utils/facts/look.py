# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what :class:`raw.Sources` names on this host: an edge."""

from __future__ import annotations

import glob
import os
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import LATE, MISSING, Output, Raw, Sources

# A broken driver makes nvidia-smi hang: it must not hold up what else there is to say.
SECONDS = 20.0
SIDE_BY_SIDE = 8
SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def look(sources: Sources) -> Raw:
    """Read files, resolve links and run commands, these side by side."""
    files, denied = _read(sources.files)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        outputs = dict(zip(sources.commands, pool.map(_in_time, sources.commands.values()), strict=True))
    links = {path: os.path.realpath(path) for path in _there(sources.links) if os.path.lexists(path)}
    return Raw(files, links, outputs, frozenset(denied))


def _there(patterns: Iterable[str]) -> list[str]:
    return sorted({path for pattern in patterns for path in (glob.glob(pattern) if "*" in pattern else [pattern])})


def _read(patterns: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    files, denied = {}, set()
    for path in _there(patterns):
        try:
            files[path] = Path(path).read_text(encoding="utf-8", errors="replace")
        except PermissionError:
            denied.add(path)
        except OSError:
            continue  # not there, a folder, or a file of /sys that has no answer now
    return files, denied


def _in_time(argv: Sequence[str]) -> Output:
    return run(argv, SECONDS)


def run(argv: Sequence[str], seconds: float | None = None) -> Output:
    """Run a command in English.

    :param seconds: after which it is ended; None for as long as it takes
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *SBIN])
    environment = {**os.environ, "LC_ALL": "C", "PATH": path}
    try:
        done = subprocess.run(
            argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        return Output(MISSING)
    except PermissionError as error:
        return Output(126, err=str(error))
    except subprocess.TimeoutExpired:
        return Output(LATE, err=f"no answer in {seconds:.0f} s")
    return Output(done.returncode, done.stdout, done.stderr)
