#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove what can be proved of an engine's image before anything stops for it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_probe
short_description: Prove that an engine's image has what it needs and accepts its command line
version_added: 0.1.0
description:
  - Runs the image's Python once, without network and GPU. Asks for versions, needed modules, and whether the engine's
    own parser accepts the command line. Fails when it does not.
  - An image without Python, or an engine that cannot be asked, proves nothing and is no failure.
  - The answer is kept on the host, so that the same image is asked once.
  - Needs root on the host for that.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  image:
    description: The image, which must be on the host; one that is not there is skipped.
    type: str
    required: true
  engine:
    description: The engine, whose parser is asked.
    type: str
    choices: [vllm, sglang]
    required: true
  imports:
    description: Python modules that must be in the image.
    type: list
    elements: str
    default: []
  argv:
    description: The engine's whole command line.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Prove what can be proved of the image
  dgxspark.serving.image_probe:
    image: vllm/vllm-openai:v0.32.0
    engine: vllm
    argv: [vllm, serve, Qwen/Qwen3-0.6B, --max-model-len, "8192"]
"""

RETURN = r"""
versions:
  description: Versions of vLLM, SGLang, PyTorch and Ray in the image, as far as they are there.
  returned: always
  type: dict
known:
  description: Whether the command line could be judged.
  returned: always
  type: bool
detail:
  description: Why it could not be judged; empty when it could.
  returned: always
  type: str
problems:
  description: What keeps the engine from starting, in sentences.
  returned: always
  type: list
  elements: str
"""

import json
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import probe_image
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths, write_whole

# So many answers are kept.
KEEP = 20


def kept(path: Path) -> dict[str, Any] | None:
    """An answer from before."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None


def keep(path: Path, said: dict[str, Any]) -> None:
    """Keep an answer, and of all the newest."""
    write_whole(path, (json.dumps(said, indent=2) + "\n").encode())
    answers = sorted(path.parent.glob("*.json"), key=lambda answer: answer.stat().st_mtime)
    for old in answers[:-KEEP]:
        old.unlink(missing_ok=True)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "image": {"type": "str", "required": True},
            "engine": {"type": "str", "choices": ["vllm", "sglang"], "required": True},
            "imports": {"type": "list", "elements": "str", "default": []},
            "argv": {"type": "list", "elements": "str", "required": True},
        },
        supports_check_mode=True,
    )
    name = module.params["image"]
    docker = Docker(module)
    image = docker.image(name)
    if image is None:
        module.exit_json(changed=False, versions={}, known=False, detail="the image is not there", problems=[])
    asked = probe_image.question(*(module.params[option] for option in ("engine", "imports", "argv")))
    path = HostPaths().probes / f"{probe_image.key(image.id, asked)}.json"
    said = kept(path)
    detail = ""
    if said is None:
        container = probe_image.container_name(image.id, asked)
        argv = probe_image.run_argv(docker.command, image.id, container, asked)
        _code, out, err = module.run_command(argv)
        said = probe_image.read_answer(out)
        if said is not None and not module.check_mode:
            keep(path, said)
        elif said is None:
            module.run_command([docker.command, "container", "rm", "--force", container])
            detail = " ".join(err.split())[-300:] or "the image said nothing"
    problems = probe_image.problems(name, said)
    result = {
        "changed": False,
        "versions": said["versions"] if said else {},
        "known": said is not None and not said["unknown"],
        "detail": said["unknown"] if said else detail,
        "problems": problems,
    }
    if problems:
        module.fail_json(msg=" ".join([problems[0][0].upper() + problems[0][1:], *problems[1:]]), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
