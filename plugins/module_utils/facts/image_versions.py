# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of what is in an engine's image. They are read from the packages' own records: nothing is imported."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

NAME = "image_versions"
# Packages by the names under which their versions are compared; that of NCCL names its CUDA.
PACKAGES = {
    "vllm": ("vllm",),
    "sglang": ("sglang",),
    "torch": ("torch",),
    "ray": ("ray",),
    "nccl": ("nvidia-nccl-cu13", "nvidia-nccl-cu12"),
}
_PROGRAM = """\
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name, packages in json.loads(sys.argv[1]).items():
    for package in packages:
        try:
            found.setdefault(name, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            pass
print(json.dumps(found))
"""


def sources(image: str) -> Sources:
    """What to run for them.

    :param image: an image of the host; nothing is run when it is empty
    """
    if not image:
        return Sources()
    run = ("docker", "run", "--rm", "--network", "none", "--pull", "never", "--entrypoint", "python3", image)
    return Sources(commands={NAME: (*run, "-c", _PROGRAM, json.dumps(PACKAGES))})


def versions(raw: Raw) -> Mapping[str, str]:
    """Versions by name; none when the image did not say."""
    output = raw.output(NAME)
    try:
        found = json.loads(output.out.splitlines()[-1]) if output.ok and output.out.strip() else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
