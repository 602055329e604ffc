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

import json
import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import hub_cache, model_files, model_reference


def find(model: model_reference.ModelReference, cache_dir: str) -> tuple[str, str, list[str]]:
    """Find the model's folder.

    :returns: the folder, what to mount, and why there is no folder
    """
    if model.is_path:
        return model.text, model.text, [] if Path(model.text).is_dir() else [f"no folder {model.text}"]
    root = hub_cache.root(cache_dir, os.environ, str(Path.home()))
    repository = Path(root, hub_cache.folder(model.text))
    if not repository.is_dir():
        return "", root, [f"no folder {repository}"]
    snapshots = repository / "snapshots"
    names = sorted(path.name for path in snapshots.iterdir()) if snapshots.is_dir() else []
    chosen = hub_cache.snapshot(_first_line(repository / "refs" / "main"), names)
    if not chosen:
        return "", root, [f"no snapshot in {repository} that refs/main names"]
    return str(snapshots / chosen), root, []


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").split("\n", 1)[0].strip()
    except OSError:
        return ""


def sizes(folder: str) -> dict[str, int | None]:
    """Size of each entry of a folder in bytes, links followed; None for a dangling link."""
    found: dict[str, int | None] = {}
    for path in Path(folder).iterdir():
        try:
            found[path.name] = path.stat().st_size
        except FileNotFoundError:
            found[path.name] = None
    return found


def wanted_shards(folder: str) -> list[str] | None:
    """Weight files that the folder's index names; None without an index."""
    try:
        return model_files.shards(json.loads(Path(folder, model_files.INDEX).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "model": {"type": "str", "required": True},
            "cache_dir": {"type": "path"},
        },
        supports_check_mode=True,
    )
    try:
        model = model_reference.parse(module.params["model"])
    except ValueError:
        module.fail_json(msg=f"model is '{module.params['model']}', wanted an absolute path or an id such as ORG/NAME.")
    path, mount, problems = find(model, module.params["cache_dir"] or "")
    if not problems:
        try:
            problems = model_files.problems(sizes(path), wanted_shards(path))
        except (OSError, ValueError) as error:
            problems = [f"cannot be read: {error}"]
    module.exit_json(changed=False, model=model.text, path=path, mount=mount, problems=problems)


if __name__ == "__main__":
    main()
