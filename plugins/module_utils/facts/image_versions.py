# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of what is in an engine's image, by the program that also proves what it can do."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources
from ansible_collections.dgxspark.serving.plugins.module_utils.images import probe

NAME = "image_versions"


def sources(image: str) -> Sources:
    """What to run for them.

    :param image: an image of the host; nothing is run when it is empty
    """
    if not image:
        return Sources()
    asked = probe.question("", [], [])
    return Sources(commands={NAME: tuple(probe.run_argv("docker", image, probe.container_name(image, asked), asked))})


def versions(raw: Raw) -> Mapping[str, str]:
    """Versions by name; none when the image did not say."""
    output = raw.output(NAME)
    said = probe.read_answer(output.out) if output.ok else None
    return said["versions"] if said else {}
