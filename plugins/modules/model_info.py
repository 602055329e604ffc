#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look whether a model lies complete on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: model_info
short_description: Look whether a model lies complete on a host
version_added: 0.1.0
description:
  - Finds a model by its path, or by its id in the caches of Hugging Face or ModelScope, chooses the snapshot, and says
    what is missing or broken.
  - Looks at names, sizes, links, owners, configuration and the headers of weight files. The weights are not read.
  - Looks with the eyes of the user that Ansible logs in as, even with C(become).
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  model:
    description: Absolute path of a model folder, or an id (C(ORG/NAME)).
    type: str
    required: true
  hub:
    description: The hub that an id belongs to; V(path) of a folder, as a plan has it.
    type: str
    choices: [huggingface, modelscope, path]
    default: huggingface
  revision:
    description:
      - Branch, tag or commit of the model; of a commit at least seven digits.
      - Without it C(refs/main) counts, or the only snapshot there is.
    type: str
    default: ""
  cache_dir:
    description:
      - The hub's cache that holds the model, for an id.
      - Other caches of the user are looked at, too, where this one lacks the model. Without it the module begins where
        C(huggingface_hub) or C(modelscope) would.
      - C(~) is the home of the user that Ansible logs in as.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Look for the model
  dgxspark.serving.model_info:
    model: Qwen/Qwen3-0.6B
  register: found

- name: Look for one from ModelScope
  dgxspark.serving.model_info:
    model: Qwen/Qwen3-0.6B
    hub: modelscope
    cache_dir: /data/modelscope
  register: found
"""

RETURN = r"""
model:
  description: The model as it was asked for.
  returned: always
  type: str
hub:
  description: V(huggingface), V(modelscope) or V(path).
  returned: always
  type: str
root:
  description:
    - What is copied to other hosts. The cache for V(huggingface), otherwise the model's own folder.
    - Where the model should lie when it is not there.
  returned: always
  type: str
path:
  description: Folder that holds the model's files; empty when there is none.
  returned: always
  type: str
mount:
  description: What a container must be given to see the model.
  returned: always
  type: str
container_path:
  description: What the engine is given as its model. The id for V(huggingface), otherwise a folder in the container.
  returned: always
  type: str
revision:
  description: The snapshot that was chosen; empty where the layout has none.
  returned: always
  type: str
problems:
  description: What is missing or broken, in words. Empty when the model is complete.
  returned: always
  type: list
  elements: str
notes:
  description: What is no fault, but good to know, such as files that another user owns.
  returned: always
  type: list
  elements: str
missing:
  description: Bytes that are missing; V(null) where that is not known.
  returned: always
  type: int
free:
  description: Bytes free on the disk of RV(root); V(null) where that is not known.
  returned: always
  type: int
size:
  description: Bytes of the model that are there.
  returned: always
  type: int
facts:
  description: What the configuration and the headers say of the model; empty where there is no configuration.
  returned: always
  type: dict
  contains:
    architecture:
      description: Name of the architecture, such as V(Qwen3ForCausalLM).
      type: str
    model_type:
      description: The library's short name for it.
      type: str
    parameters:
      description: Number of parameters.
      type: int
    active_parameters:
      description: How many of them work on one token; fewer only in a mixture of experts.
      type: int
    layers:
      description: Number of layers.
      type: int
    attention_heads:
      description: Heads of attention in a layer.
      type: int
    kv_heads:
      description: Those that have keys and values of their own.
      type: int
    head_dim:
      description: Width of a head.
      type: int
    dtype:
      description: Type of what is not quantized.
      type: str
    quantization:
      description: How weights are quantized, such as V(FP8) or V(AWQ).
      type: str
    context_length:
      description: The longest context in tokens.
      type: int
    vision:
      description: Whether it takes images.
      type: bool
    weight_bytes:
      description: Bytes of weights that an engine loads.
      type: int
    kv:
      description: What the KV cache of each kind of layer takes.
      type: dict
fingerprint:
  description:
    - Changes with any name, size or link of the model; equal on hosts that have the same.
    - Empty when the model is not complete.
  returned: always
  type: str
manifest:
  description: Digest of the manifest that is kept beside the model, while that is true of the files; otherwise empty.
  returned: always
  type: str
writable:
  description: Whether the user that Ansible logs in as can write to where the model lies.
  returned: always
  type: bool
leftovers:
  description: What may be removed.
  returned: always
  type: dict
  contains:
    incomplete:
      description: Parts of unfinished downloads, relative to RV(root).
      type: list
      elements: str
    snapshots:
      description: Snapshots that nothing names.
      type: list
      elements: str
    bytes:
      description: What both take.
      type: int
completable:
  description: Whether only small files are missing, which a model that it was made from may have.
  returned: always
  type: bool
"""

from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.models import look as model_look
from ansible_collections.dgxspark.serving.plugins.module_utils.models import reference


def _unchanged(result: dict[str, Any]) -> dict[str, Any]:
    return result


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "model": {"type": "str", "required": True},
            "hub": {
                "type": "str",
                "choices": [reference.HUGGING_FACE, reference.MODEL_SCOPE, reference.PATH],
                "default": reference.HUGGING_FACE,
            },
            "revision": {"type": "str", "default": ""},
            "cache_dir": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    # To a result with a path Ansible adds what the path is, and its size would replace the model's.
    module.add_path_info = _unchanged
    options = module.params
    try:
        found = model_look.look(options["model"], options["cache_dir"], options["hub"], options["revision"])
    except ValueError:
        module.fail_json(msg=f"model is '{options['model']}', wanted an absolute path or an id such as ORG/NAME.")
    module.exit_json(changed=False, **asdict(found))


if __name__ == "__main__":
    main()
