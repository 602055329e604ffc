# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an image says of itself, and what of that keeps an engine from starting: proved before another one stops."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.images import in_image

# Seconds that the image may take; importing an engine takes ten to thirty.
TIMEOUT = 240


def source() -> str:
    """The program that runs inside the image."""
    spec = in_image.__spec__
    text = spec.loader.get_source(spec.name)  # type: ignore[union-attr]
    # Ansible's own loader gives bytes, the one that a module on a host is loaded by gives text.
    return text.decode() if isinstance(text, bytes) else str(text)


def question(engine: str, imports: Sequence[str], argv: Sequence[str]) -> str:
    """What the program is asked."""
    return json.dumps({"engine": engine, "imports": list(imports), "argv": list(argv)}, sort_keys=True)


def key(image_id: str, asked: str) -> str:
    """A name for the answer: the same image, asked the same by the same program, says the same."""
    return hashlib.sha256("\n".join((image_id, asked, source())).encode()).hexdigest()[:32]


def container_name(image_id: str, asked: str) -> str:
    """The container in which the program runs, so that one that was left is found."""
    return f"dgxspark-probe-{key(image_id, asked)[:12]}"


def run_argv(docker: str, image: str, name: str, asked: str) -> list[str]:
    """The command that asks: without network, GPU, mounts or environment, and not for ever."""
    return [
        *("timeout", "--kill-after=10", str(TIMEOUT)),
        *(docker, "run", "--rm", "--init", "--pull", "never", "--network", "none", "--name", name),
        *("--entrypoint", "python3", image, "-c", source(), asked),
    ]


def read_answer(output: str) -> dict[str, Any] | None:
    """The program's answer in what the container printed; None when there is none, which proves nothing."""
    lines = [line for line in output.splitlines() if line.startswith(in_image.MARK)]
    try:
        return dict(json.loads(lines[-1][len(in_image.MARK) :])) if lines else None
    except ValueError:
        return None


def problems(image: str, said: dict[str, Any] | None) -> list[str]:
    """What keeps the engine from starting, in sentences; nothing when nothing is proved."""
    if said is None:
        return []
    found = [
        f"found no module {name} in image {image} ({words}), wanted one that can be imported. Use an image that has it"
        + (", or serving_backend: mp." if name == "ray" else ".")
        for name, words in said["missing"].items()
    ]
    if said["refusal"]:
        found.append(
            f"image {image} refuses the engine's command line: {said['refusal']}. "
            "Correct serving_engine_args, or use an image whose engine knows it."
        )
    return found
