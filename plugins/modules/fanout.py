#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Move a model or an image from one host to all others over the fabric."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fanout
short_description: Move files from one host to all others over the fabric
version_added: 0.1.0
description:
  - Each host takes the files of a manifest from the host before it in a chain, hashes them while they arrive, and gives
    them on at once. So the source sends them once, and all hosts have them in about the time of one copy.
  - It is called on all hosts. O(stage=serve) goes to the one that has the files, O(stage=copy) to all others.
  - The work goes on in the background; the action plugin of the same name follows it and shows how far it is. A host
    that is done goes on giving files to others until it is stopped, or until nobody has asked and no byte has moved for
    15 minutes.
  - An interrupted copy goes on where it was. Nothing that is half there has its final name.
extends_documentation_fragment:
  - dgxspark.serving.background
options:
  stage:
    description:
      - V(check) says what is missing and whether there is room, and changes nothing.
      - V(serve) gives the files that are here. It is done when it answers.
      - V(copy) brings them here. It is done when all are here, right and in place.
    type: str
    choices: [check, copy, serve]
    default: copy
  what:
    description: The files in the words of the user, such as C(model ORG/NAME).
    type: str
    default: the files
  manifest:
    description: What to move, as M(dgxspark.serving.model_manifest) returns it. Required to begin.
    type: dict
  root:
    description:
      - The Hugging Face cache, or the folder that the paths of the manifest are relative to. Required to begin.
    type: path
  distrust:
    description: Paths of the manifest that are brought anew although a file of the right size is there.
    type: list
    elements: str
    default: []
  record:
    description: Whether to keep the manifest beside the files, so that they need not be hashed again.
    type: bool
    default: true
  listen:
    description: Addresses of this host at which it gives files.
    type: list
    elements: str
    default: []
  port:
    description: The port on all hosts.
    type: int
    default: 29650
  peers:
    description: Addresses that are answered.
    type: list
    elements: str
    default: []
  upstreams:
    description: For each host that may be asked a list of its addresses, nearest host first.
    type: list
    elements: list
    default: []
  token:
    description: A secret of this run, the same on all hosts. Required for O(stage=serve) and O(stage=copy).
    type: str
    default: ""
  streams:
    description: Number of files that are brought at once.
    type: int
    default: 8
  stall:
    description: Seconds without a byte after which the host above counts as dead and the next one is asked.
    type: float
    default: 30
  offers:
    description:
      - Only in a task. For each host what is copied, as the role P(dgxspark.serving.fanout#role) takes it. The
        controller makes O(what), O(root), O(distrust), O(manifest) and O(stage) of it.
    type: dict
  manifest_variable:
    description: Only in a task. The variable of the source whose C(manifest) the controller gives as O(manifest).
    type: str
  ways:
    description:
      - Only in a task. What M(dgxspark.serving.fanout_plan) returns; the controller gives each host its O(listen),
        O(peers) and O(upstreams).
    type: dict
  follow:
    description: Only in a task. Whether the controller asks until the work has ended.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Look whether there is room
  dgxspark.serving.fanout:
    stage: check
    offers: "{{ offers }}"
    manifest_variable: made
  register: need

- name: Lay the way from host to host
  dgxspark.serving.fanout_plan:
    offers: "{{ offers }}"
    need_variable: need
  register: way
  run_once: true

- name: Copy
  dgxspark.serving.fanout:
    offers: "{{ offers }}"
    manifest_variable: made
    ways: "{{ way.ways }}"
    token: "{{ token }}"
    job_id: fanout-example

- name: End it
  dgxspark.serving.fanout:
    offers: "{{ offers }}"
    manifest_variable: made
    job_stage: stop
    job_id: fanout-example
"""

RETURN = r"""
kept:
  description: Bytes that were there.
  returned: O(stage=check), and O(stage=copy) when it is done
  type: int
needed:
  description: Bytes that have to be brought.
  returned: O(stage=check)
  type: int
free:
  description: Bytes that are free there; null when the file system does not say.
  returned: O(stage=check)
  type: int
writable:
  description: Whether this user may write there.
  returned: O(stage=check)
  type: bool
problems:
  description: Why it cannot be done, in sentences.
  returned: O(stage=check)
  type: list
  elements: str
received:
  description: Bytes that were brought, those of an earlier run that were read again among them.
  returned: O(stage=copy) when it is done
  type: int
files:
  description: Paths of the files that were brought.
  returned: O(stage=copy) when it is done
  type: list
  elements: str
notes:
  description: What is worth knowing and no fault, in sentences.
  returned: O(stage=copy) when it is done
  type: list
  elements: str
job:
  description:
    - How far the work is; C(state) (C(running), C(done), C(failed)), C(done) and C(total) bytes, C(text), C(seconds).
  returned: unless O(stage=check)
  type: dict
"""

import ipaddress
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import JOB_OPTIONS, Progress, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.check import check
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.job import copy, serve
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.order import Order
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.payload import payload_of
from ansible_collections.dgxspark.serving.plugins.module_utils.fanout.place import Place


def faults(options: dict[str, Any]) -> list[str]:
    """What is wrong with the options of work that begins, in sentences."""
    found = [f"{name} is needed." for name in ("manifest", "root") if not options[name]]
    if options["stage"] != "check":
        if not options["token"].isascii() or not options["token"].isalnum():
            found.append("token is needed, of letters and digits.")
        if options["stage"] == "copy" and not all(options["upstreams"] or [[]]):
            found.append("upstreams is needed, with an address for each host.")
    for address in [*options["listen"], *options["peers"], *(one for host in options["upstreams"] for one in host)]:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            found.append(f"{str(address)!r} is no IP address.")
    found += [
        f"{name} is {options[name]:g}, wanted {least} to {most}."
        for name, least, most in (("port", 1024, 65535), ("streams", 1, 64), ("stall", 1, 3600))
        if not least <= options[name] <= most
    ]
    return found


def order_of(options: dict[str, Any]) -> Order:
    """What the options ask for.

    :raises ValueError: the manifest is none
    """
    payload = payload_of(options["manifest"])
    return Order(
        what=options["what"],
        payload=payload,
        place=Place(options["root"], payload, options["distrust"]),
        **{name: options[name] for name in ("listen", "port", "peers", "upstreams", "token", "streams", "stall")},
    )


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            # What the controller makes the rest of, and takes out.
            "offers": {"type": "dict"},
            "manifest_variable": {"type": "str"},
            "ways": {"type": "dict"},
            "follow": {"type": "bool", "default": True},
            "stage": {"type": "str", "choices": ["check", "copy", "serve"], "default": "copy"},
            "what": {"type": "str", "default": "the files"},
            "manifest": {"type": "dict"},
            "root": {"type": "path"},
            "distrust": {"type": "list", "elements": "str", "default": []},
            "record": {"type": "bool", "default": True},
            "listen": {"type": "list", "elements": "str", "default": []},
            "port": {"type": "int", "default": 29650},
            "peers": {"type": "list", "elements": "str", "default": []},
            "upstreams": {"type": "list", "elements": "list", "default": []},
            "token": {"type": "str", "default": "", "no_log": True},
            "streams": {"type": "int", "default": 8},
            "stall": {"type": "float", "default": 30},
            **JOB_OPTIONS,
        },
        supports_check_mode=True,
    )
    options = module.params
    serves = options["stage"] == "serve"
    if options["job_stage"] != "start":
        if module.check_mode:
            module.exit_json(changed=False)
        run_job(module, lambda _progress: {}, changed=not serves)
    wrong = faults(options)
    if wrong:
        module.fail_json(msg=" ".join(wrong))
    try:
        order = order_of(options)
    except ValueError as error:
        module.fail_json(msg=f"The manifest is refused: {error}.")
    if options["stage"] == "check" or (module.check_mode and not serves):
        found = check(order)
        would = bool(found["needed"] or order.place.links_missing())
        module.exit_json(changed=module.check_mode and options["stage"] == "copy" and would, **found)

    def work(progress: Progress) -> dict[str, Any]:
        if serves:
            serve(order, progress)
        return copy(order, progress, options["manifest"] if options["record"] else None)

    run_job(module, work, changed=not serves)


if __name__ == "__main__":
    main()
