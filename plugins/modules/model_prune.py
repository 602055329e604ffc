#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what lies beside a model that nobody needs, and remove it if that is asked for."""

from __future__ import annotations

DOCUMENTATION = r"""
module: model_prune
short_description: Say what lies beside a model that nobody needs, and remove it
version_added: 0.1.0
description:
  - Finds what downloads and copies have left and no model needs, and removes it with O(remove=true).
  - These are unfinished files and copies in which nothing changed for a day; snapshots that neither a ref nor
    O(revision) nor O(keep) names; blobs that no other snapshot needs; and manifests of snapshots that are gone.
  - Snapshots and blobs are left alone while a download or a copy of the model seems to run, and when the model is not
    complete.
  - A file that repositories of a Hugging Face cache share is removed only when no repository leads to it any more.
  - For a path, and for a model of ModelScope, only what our own copying has left is looked for.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  model:
    description: Absolute path of a model folder, or an id (C(ORG/NAME)).
    type: str
    required: true
  hub:
    description: Whose cache holds an id.
    type: str
    choices: [huggingface, modelscope]
    default: huggingface
  revision:
    description: Branch, tag or commit of an id that is served; the cache's own default without it.
    type: str
    default: ""
  keep:
    description: Commits whose snapshots stay, too.
    type: list
    elements: str
    default: []
  cache_dir:
    description: The cache that holds the model, for an id; where the hub's tools would look without it.
    type: str
    default: ""
  remove:
    description: Remove it. Otherwise it is only told.
    type: bool
    default: false
attributes:
  check_mode:
    description: Can run in check mode and says what it would remove.
    support: full
  diff_mode:
    description: Lists what is removed.
    support: full
"""

EXAMPLES = r"""
- name: Say what nobody needs
  dgxspark.serving.model_prune:
    model: Qwen/Qwen3-0.6B
  register: left

- name: Remove it
  dgxspark.serving.model_prune:
    model: Qwen/Qwen3-0.6B
    remove: true
"""

RETURN = r"""
leftovers:
  description: What nobody needs.
  returned: always
  type: list
  elements: dict
  contains:
    path:
      description: The file or folder.
      type: str
    kind:
      description: One of C(incomplete), C(staging), C(snapshot), C(blob), C(shared) and C(manifest).
      type: str
    size:
      description: Bytes.
      type: int
bytes:
  description: Bytes that are free now, or would be.
  returned: always
  type: int
notes:
  description: What should be known, in words, such as that a download seems to run.
  returned: always
  type: list
  elements: str
"""

import time
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.models import leftovers, prune
from ansible_collections.dgxspark.serving.plugins.module_utils.models import look as model_look
from ansible_collections.dgxspark.serving.plugins.module_utils.models.reference import HUGGING_FACE


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "model": {"type": "str", "required": True},
            "hub": {"type": "str", "choices": ["huggingface", "modelscope"], "default": "huggingface"},
            "revision": {"type": "str", "default": ""},
            "keep": {"type": "list", "elements": "str", "default": []},
            "cache_dir": {"type": "str", "default": ""},
            "remove": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    options = module.params
    try:
        found = model_look.look(options["model"], options["cache_dir"], options["hub"], options["revision"])
    except ValueError:
        module.fail_json(msg=f"model is '{options['model']}', wanted an absolute path or an id such as ORG/NAME.")
    # What is not complete may need anything that is there.
    revisions = frozenset() if found.problems else frozenset({found.revision, *options["keep"]} - {""})
    model = leftovers.Model(found.root, found.hub, found.model, revisions)
    notes = [f"{found.model} is not complete, so snapshots and blobs stay."] if found.problems else []
    try:
        if found.hub == HUGGING_FACE and leftovers.under_way(found.root, found.model, time.time()):
            notes.append(f"A download or a copy of {found.model} seems to run, so snapshots and blobs stay.")
        left = leftovers.find(model, time.time())
    except OSError as error:
        module.fail_json(msg=f"What is left of {found.model} cannot be read: {error}.")
    freed, failures = sum(one.size for one in left), []
    if options["remove"] and not module.check_mode:
        freed, failures = prune.remove(found.root, left)
    result = {
        "changed": bool(options["remove"] and left),
        "leftovers": [asdict(one) for one in left],
        "bytes": freed,
        "notes": notes,
    }
    if options["remove"]:
        result["diff"] = {"before": "".join(f"{one.path}\n" for one in left), "after": ""}
    if failures:
        module.fail_json(msg=f"Leftovers of {found.model} cannot be removed: {'; '.join(failures)}.", **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
