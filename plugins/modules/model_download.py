#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Download a model, or the small files that it lacks."""

from __future__ import annotations

DOCUMENTATION = r"""
module: model_download
short_description: Download a model, or the small files that it lacks
version_added: 0.1.0
description:
  - Downloads a model with C(huggingface_hub) or C(modelscope), which must be in a virtual environment on the host.
    Weights come as safetensors only, nothing comes that is for other programs.
  - Looks first whether the disk has room for what is missing. Goes on where an ended download has stopped.
  - With O(state=completed) brings the small files that a model lacks, such as C(preprocessor_config.json), from the
    model that it was made from.
  - Works in the background; each call waits for some seconds and says how far it is. The action plugin of the same
    name asks until it has ended and shows it.
extends_documentation_fragment:
  - dgxspark.serving.background
options:
  model:
    description: Id of the model on its hub, C(ORG/NAME).
    type: str
    required: true
  hub:
    description: Where it comes from.
    type: str
    choices: [huggingface, modelscope]
    default: huggingface
  revision:
    description: Branch, tag or commit. Empty for the default branch.
    type: str
    default: ""
  cache_dir:
    description: The hub's cache. Without it the one that the hub's library would use, as the user it runs as.
    type: path
  hf_endpoint:
    description: URL of a mirror of the Hugging Face hub, for models from there. Empty for the hub itself.
    type: str
    default: ""
  token:
    description: A token of the hub. Empty for the one that the user has on the host, if any.
    type: str
    default: ""
  token_file:
    description: Path, on the controller, of a file with the token. The action plugin reads it.
    type: path
  tools:
    description: The virtual environment with the hub's library.
    type: path
    default: /opt/dgxspark-serving/hub-tools
  workers:
    description: How many files are downloaded at once.
    type: int
    default: 8
  state:
    description: Whether the model is to be downloaded, or to be completed from O(base).
    type: str
    choices: [downloaded, completed]
    default: downloaded
  path:
    description: The folder with the model's files, with O(state=completed).
    type: path
  base:
    description: Id on the same hub, or absolute path on the host, of the model to complete from.
    type: str
"""

EXAMPLES = r"""
- name: Download a model that needs a token
  dgxspark.serving.model_download:
    model: meta-llama/Llama-3.1-8B-Instruct
    token_file: ~/hf-token

- name: Complete a quantised model with the image processor of its base
  dgxspark.serving.model_download:
    state: completed
    model: acme/vision-fp8
    path: "{{ found.path }}"
    base: acme/vision
"""

RETURN = r"""
folder:
  description: Folder with the model's files.
  returned: when it is done
  type: str
revision:
  description: The commit that was downloaded; empty when the hub has no such.
  returned: when it is downloaded
  type: str
size:
  description: Bytes of all files that were wanted.
  returned: when it is downloaded
  type: int
downloaded:
  description: Bytes of them that had to come.
  returned: when it is downloaded
  type: int
notes:
  description: What to know about the download, in sentences; the action plugin shows them as warnings.
  returned: when it is downloaded
  type: list
  elements: str
completed:
  description: Files that came from the base.
  returned: when it is completed
  type: list
  elements: str
job:
  description: How far it is.
  returned: except in check mode
  type: dict
  sample: {"state": "done", "done": 35000000000, "total": 35000000000, "text": "", "seconds": 310.2}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import JOB_OPTIONS, Progress, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.download.complete import complete, lacking
from ansible_collections.dgxspark.serving.plugins.module_utils.download.refusal import Asked
from ansible_collections.dgxspark.serving.plugins.module_utils.download.work import Wanted, download
from ansible_collections.dgxspark.serving.plugins.module_utils.models import (
    hub_cache,
    modelscope_cache,
    places,
    reference,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.models.look import login_home


def endpoint(options: dict[str, Any]) -> str:
    """The mirror to ask; a mirror of one hub is none of the other."""
    return options["hf_endpoint"] if options["hub"] == reference.HUGGING_FACE else ""


def target(options: dict[str, Any], model: reference.ModelReference) -> str:
    """Where it goes: the cache that was named, even where another one has a part of it, else where that is.

    :raises OSError: a cache cannot be read
    """
    cache, environ, home = options["cache_dir"] or "", places.environment(), login_home()
    found = [place.root for place in places.find(model, cache, options["revision"], environ, home)]
    if not cache:
        return found[0]
    of_hub = model.hub == reference.HUGGING_FACE
    root = (hub_cache if of_hub else modelscope_cache).roots(cache, environ, home)[0]
    there = [place for place in found if place == root or place.startswith(f"{root}/")]
    return next(iter(there), root if of_hub else modelscope_cache.new_folder(root, model.text))


def wanted(options: dict[str, Any], model: str) -> Wanted:
    """A model, with where it comes from and goes to.

    :raises ValueError: it is no id
    :raises OSError: the cache cannot be read
    """
    parsed = reference.parse(model, options["hub"])
    if parsed.hub != options["hub"]:
        raise ValueError(model)
    asked = Asked(parsed.text, options["hub"], options["revision"], endpoint(options))
    return Wanted(asked, target(options, parsed), options["token"], options["tools"], options["workers"])


def base(options: dict[str, Any]) -> Wanted:
    """The model to complete from; it goes nowhere.

    :raises ValueError: it is neither an id nor a path
    """
    name = reference.parse(options["base"], options["hub"]).text
    asked = Asked(name, options["hub"], "", endpoint(options))
    return Wanted(asked, "", options["token"], options["tools"], options["workers"])


def run(module: AnsibleModule) -> None:
    """Do what the options say; does not return.

    :raises ValueError: a model is none
    :raises OSError: something cannot be read
    """
    options = module.params
    if options["state"] == "downloaded":
        model = wanted(options, options["model"])
        run_job(module, lambda progress: download(model, progress))
    names = lacking(options["path"])
    if not names and options["job_stage"] == "start":
        module.exit_json(changed=False, folder=options["path"], completed=[])
    source = base(options)

    def work(progress: Progress) -> dict[str, Any]:
        return complete(options["path"], names, source, progress)

    run_job(module, work)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "model": {"type": "str", "required": True},
            "hub": {"type": "str", "choices": ["huggingface", "modelscope"], "default": "huggingface"},
            "revision": {"type": "str", "default": ""},
            "cache_dir": {"type": "path"},
            "hf_endpoint": {"type": "str", "default": ""},
            "token": {"type": "str", "default": "", "no_log": True},
            "token_file": {"type": "path", "no_log": False},
            "tools": {"type": "path", "default": "/opt/dgxspark-serving/hub-tools"},
            "workers": {"type": "int", "default": 8},
            "state": {"type": "str", "choices": ["downloaded", "completed"], "default": "downloaded"},
            "path": {"type": "path"},
            "base": {"type": "str"},
            **JOB_OPTIONS,
        },
        required_if=[("state", "completed", ("path", "base"))],
        supports_check_mode=True,
    )
    try:
        run(module)
    except ValueError as error:
        module.fail_json(msg=f"model is '{error}', wanted an id such as ORG/NAME.")
    except OSError as error:
        module.fail_json(msg=f"The model's folder cannot be read: {error}. Let the login user read it.")


if __name__ == "__main__":
    main()
