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
  - Finds the folder of a model, by its path or by its id in the Hugging Face cache, and says what is missing from it.
  - Looks at names, sizes and links only; contents are not read.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  model:
    description: Absolute path of a model folder, or a Hugging Face id (C(ORG/NAME)).
    type: str
    required: true
  cache_dir:
    description:
      - The Hugging Face cache that holds the model, for an id.
      - Without it the module looks where C(huggingface_hub) would, as the user it runs as on the host.
    type: path
"""

EXAMPLES = r"""
- name: Look for the model
  dgxspark.serving.model_info:
    model: Qwen/Qwen3-0.6B
  register: found
"""

RETURN = r"""
model:
  description: The model as it was asked for.
  returned: always
  type: str
path:
  description: Folder that holds the model's files; empty when there is none.
  returned: always
  type: str
mount:
  description: What a container must be given to see the model. For a path the folder, for an id the whole cache.
  returned: always
  type: str
problems:
  description: What is missing or broken, in words. Empty when the model looks complete.
  returned: always
  type: list
  elements: str
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.models import look as model_look


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "model": {"type": "str", "required": True},
            "cache_dir": {"type": "path"},
        },
        supports_check_mode=True,
    )
    try:
        found = model_look.look(module.params["model"], module.params["cache_dir"] or "")
    except ValueError:
        module.fail_json(msg=f"model is '{module.params['model']}', wanted an absolute path or an id such as ORG/NAME.")
    module.exit_json(changed=False, **asdict(found))


if __name__ == "__main__":
    main()
