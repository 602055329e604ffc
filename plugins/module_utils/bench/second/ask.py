# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a second source on the host of the engine: an edge, it runs ``docker exec``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second import program

# Seconds that the container has to say whether it holds the program.
FIND_S = 60.0
# Seconds beyond its own limit in which the program must have ended.
GRACE_S = 60.0
# How often prompts are made.
TRIES = 4
# What of a result nobody reads, and which may be long.
_TEXTS = ("generated_texts", "input_texts", "prompts")

Tell = Callable[[int, int, str], None]


def ask(wanted: Mapping[str, Any], docker: str, tell: Tell) -> dict[str, Any]:
    """Ask every point, one after the other.

    :param wanted: as ``choice.wanted_of`` made it, with points
    :param docker: path of the command
    :param tell: is told how far it is
    :returns: ``program`` and ``version``, ``asked`` with the ``point`` and the ``document`` of each that gave a result,
        and ``notes`` in sentences about what did not
    """
    tell(0, 0, "looking for vllm-rs")
    code, out, words = _run(program.find(docker, wanted), FIND_S)
    if code:
        return _nothing(program.failed(wanted, "the question where it is", code, words))
    found = program.found(out)
    if found is None:
        return _nothing(program.absent(wanted))
    asked, notes = [], []
    for number, point in enumerate(wanted["points"], 1):
        tell(0, 0, f"point {number} of {len(wanted['points'])}, {point['point']}: {point['requests']} requests")
        code, out, words = _asked(docker, wanted, point, found)
        document = _read(out) if code == 0 else None
        if document is None:
            notes.append(program.failed(wanted, point["point"], code, words))
        else:
            asked.append({"point": point["point"], "document": document})
    return {"program": found.program, "version": found.version, "asked": asked, "notes": notes}


def _nothing(note: str) -> dict[str, Any]:
    return {"program": "", "version": "", "asked": [], "notes": [note]}


def _asked(
    docker: str, wanted: Mapping[str, Any], point: Mapping[str, Any], found: program.Program
) -> tuple[int, str, str]:
    """One point; with other prompts where the program finds none of the length that it is to have."""
    for seed in range(point["seed"], point["seed"] + TRIES):
        command = program.run(docker, wanted, {**point, "seed": seed}, found)
        code, out, words = _run(command, program.LIMIT_S + GRACE_S)
        if not code or program.NO_PROMPTS not in words:
            break
    return code, out, words


def _run(command: list[str], seconds: float) -> tuple[int, str, str]:
    """Exit code, output and words of a command."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return 124, "", f"no end within {seconds:.0f} s"
    except OSError as error:
        return 127, "", str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def _read(out: str) -> dict[str, Any] | None:
    try:
        document = json.loads(out)
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    return {key: value for key, value in document.items() if key not in _TEXTS}
