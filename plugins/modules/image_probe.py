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
  description: Versions of vLLM, SGLang, PyTorch, Ray, NCCL, CUDA and Python in the image, as far as they are there.
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

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.images import answers, probe
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths


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
    asked = probe.question(*(module.params[option] for option in ("engine", "imports", "argv")))
    said, detail = answers.ask(docker, image.id, asked, HostPaths().probes, not module.check_mode)
    problems = probe.problems(name, said)
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
