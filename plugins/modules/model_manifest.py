#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say of what files a model consists, or hold a host's files against that."""

from __future__ import annotations

DOCUMENTATION = r"""
module: model_manifest
short_description: Say of what files a model consists, or hold a host's files against that
version_added: 0.1.0
description:
  - Makes the manifest of a complete model. That is each file's path, size and SHA-256, and each link's target.
  - The manifest is kept beside the model, and a file is hashed again only when its size or time of change is another.
    Large blobs of a Hugging Face cache have their SHA-256 as name already.
  - With O(manifest) it says what on this host differs from the manifest of another host.
  - Files are hashed side by side, and do not stay in the page cache. The work goes on in the background; the action
    plugin of the same name follows it and shows how far it is.
extends_documentation_fragment:
  - dgxspark.serving.background
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
    description: Branch, tag or commit of an id; the cache's own default without it.
    type: str
    default: ""
  cache_dir:
    description: The cache that holds the model, for an id; where the hub's tools would look without it.
    type: str
    default: ""
  verify:
    description:
      - With V(size), a file is taken for what its name or the kept manifest says as long as its size is right; for the
        kept manifest also the time of change must be the same.
      - With V(sha256) all files are read.
    type: str
    choices: [size, sha256]
    default: size
  manifest:
    description: The manifest of another host, to hold this host's files against.
    type: dict
"""

EXAMPLES = r"""
- name: Make the manifest of the model
  dgxspark.serving.model_manifest:
    model: Qwen/Qwen3-0.6B
  register: made

- name: Read all files of another host, and hold them against it
  dgxspark.serving.model_manifest:
    model: Qwen/Qwen3-0.6B
    verify: sha256
    manifest: "{{ made.manifest }}"
  delegate_to: spark-2
"""

RETURN = r"""
manifest:
  description: The manifest; with O(manifest) that one.
  returned: when the work is done
  type: dict
digest:
  description: SHA-256 of the manifest's entries. It is the same on all hosts that have the same files.
  returned: when the work is done
  type: str
wrong:
  description:
    - Paths with another content, size or link than the manifest says.
    - Without O(manifest) those of the right size whose content is not what their name or the kept manifest says, which
      O(verify=sha256) finds.
  returned: when the work is done
  type: list
  elements: str
missing:
  description: Paths that the manifest has and this host has not.
  returned: when the work is done
  type: list
  elements: str
extra:
  description: Paths that this host has and the manifest has not.
  returned: when the work is done
  type: list
  elements: str
problems:
  description: What is wrong or missing, in words.
  returned: when the work is done
  type: list
  elements: str
made:
  description: Whether the manifest was written beside the model anew.
  returned: when the work is done
  type: bool
notes:
  description: What should be known, in words, such as that the manifest cannot be kept.
  returned: when the work is done
  type: list
  elements: str
seconds:
  description: How long it took.
  returned: when the work is done
  type: float
job:
  description: How far the work is.
  returned: always, but in check mode
  type: dict
"""

import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import (
    JOB_OPTIONS,
    Progress,
    WorkFailed,
    run_job,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.models import look as model_look
from ansible_collections.dgxspark.serving.plugins.module_utils.models import manifest, manifest_work


def work(options: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Make the manifest, or hold the files against one.

    :raises WorkFailed: the model is not complete or cannot be read, or the manifest is none
    """
    start = time.monotonic()
    try:
        found = model_look.look(options["model"], options["cache_dir"], options["hub"], options["revision"])
    except ValueError as error:
        wanted = "wanted an absolute path or an id such as ORG/NAME"
        raise WorkFailed(f"model is '{options['model']}', {wanted}.") from error
    refs = ("main", options["revision"])
    place = manifest_work.Place(found.model, found.hub, found.root, found.path, found.revision, refs)
    again = options["verify"] == "sha256"
    if options["manifest"]:
        try:
            wanted = manifest.parse(options["manifest"])
        except ValueError as error:
            raise WorkFailed(f"The manifest of {options['model']} cannot be used: {error}.") from error
        if (wanted["model"], wanted["hub"]) != (found.model, found.hub):
            raise WorkFailed(
                f"The manifest is of {wanted['model']} ({wanted['hub']}), not of {found.model} ({found.hub})."
            )
        result = manifest_work.hold(place, wanted, again, progress.tell)
    elif found.problems:
        raise WorkFailed(f"{found.model} is not complete: {'; '.join(found.problems)}.")
    else:
        result = manifest_work.make(place, again, progress.tell)
    return {**result, "seconds": round(time.monotonic() - start, 3)}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "model": {"type": "str", "required": True},
            "hub": {"type": "str", "choices": ["huggingface", "modelscope"], "default": "huggingface"},
            "revision": {"type": "str", "default": ""},
            "cache_dir": {"type": "str", "default": ""},
            "verify": {"type": "str", "choices": ["size", "sha256"], "default": "size"},
            "manifest": {"type": "dict"},
            **JOB_OPTIONS,
        },
        supports_check_mode=True,
    )
    run_job(module, lambda progress: work(module.params, progress), changed=False)


if __name__ == "__main__":
    main()
