#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look what a fabric test would meet on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_test_info
short_description: Look what a fabric test would meet on a host
version_added: 0.1.0
description:
  - Says which tools, links, RDMA devices and image there are, how much memory is free, and which of our engines run.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  links:
    description: The host's C(fabric_links).
    type: list
    elements: dict
    default: []
  image:
    description: The engine's image, for a look whether it is there.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Look
  dgxspark.serving.fabric_test_info:
    links: "{{ fabric_links }}"
  register: here
"""

RETURN = r"""
tools:
  description: Those of iperf3, ib_write_bw, ib_write_lat and docker that are there.
  returned: always
  type: list
  elements: str
links:
  description: For each interface C(speed) in Mb/s and C(mtu), 0 where not known, and C(state), empty if it is missing.
  returned: always
  type: dict
rdma_devices:
  description: RDMA devices of the host.
  returned: always
  type: list
  elements: str
engines:
  description: Containers of this collection that run.
  returned: always
  type: list
  elements: str
image:
  description: Whether the image is there.
  returned: always
  type: bool
memory_available:
  description: Memory that can be had without swapping, in bytes; 0 where not known.
  returned: always
  type: int
"""

import shutil

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import host
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.jobs import environment
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.look import look


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "links": {"type": "list", "elements": "dict", "default": []},
            "image": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    interfaces = [str(link["interface"]) for link in module.params["links"] if link.get("interface")]
    tools = [name for name in host.TOOLS if shutil.which(name, path=environment()["PATH"])]
    raw = look(host.sources(interfaces, module.params["image"]))
    module.exit_json(changed=False, **host.read(raw, interfaces, tools))


if __name__ == "__main__":
    main()
