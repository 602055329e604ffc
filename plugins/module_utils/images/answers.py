# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking an image, and keeping its answers on the host: an edge, it runs a container and writes files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.images import probe
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_whole

# So many answers are kept.
KEEP = 20


def ask(docker: Docker, image_id: str, asked: str, folder: Path, write: bool) -> tuple[dict[str, Any] | None, str]:
    """What the image says, now or before.

    :param asked: what :func:`probe.question` made
    :param folder: where answers are kept
    :param write: whether a new answer is kept
    :returns: the answer, and why there is none
    """
    path = folder / f"{probe.key(image_id, asked)}.json"
    said = _kept(path)
    if said is not None:
        return said, ""
    container = probe.container_name(image_id, asked)
    _code, out, err = docker.module.run_command(probe.run_argv(docker.command, image_id, container, asked))
    said = probe.read_answer(out)
    if said is None:
        docker.module.run_command([docker.command, "container", "rm", "--force", container])
        return None, " ".join(err.split())[-300:] or "the image said nothing"
    if write:
        _keep(path, said)
    return said, ""


def _kept(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None


def _keep(path: Path, said: dict[str, Any]) -> None:
    """Keep an answer, and of all the newest."""
    write_whole(path, (json.dumps(said, indent=2) + "\n").encode())
    answers = sorted(path.parent.glob("*.json"), key=lambda answer: answer.stat().st_mtime)
    for old in answers[:-KEEP]:
        old.unlink(missing_ok=True)
