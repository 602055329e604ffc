#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let the kernel give back the page cache."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_drop_caches
short_description: Let the kernel give back the page cache
version_added: 0.1.0
description:
  - Writes all data to disk and lets the kernel forget what it has of files in memory, which engines count as used.
  - It is an action, not a state; so it is changed each time. Programs read their files from disk again for a while.
  - Needs root.
author:
  - dgxspark.serving contributors (@dgxspark)
options: {}
attributes:
  check_mode:
    description: Says how much there is at most.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: There is nothing to compare.
"""

EXAMPLES = r"""
- name: Drop the page cache
  dgxspark.serving.host_drop_caches:
  become: true
"""

RETURN = r"""
back:
  description: GiB that are free more than before; in check mode, that are in the cache.
  returned: always
  type: float
msg:
  description: The same in words.
  returned: always
  type: str
"""

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import meminfo
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB

DROP = Path("/proc/sys/vm/drop_caches")
PAGE_CACHE_AND_INODES = "3\n"


def memory() -> dict[str, int]:
    """The fields of ``/proc/meminfo``, in bytes."""
    return meminfo.fields(Path(meminfo.PATH).read_text(encoding="ascii"))


def main() -> None:
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    try:
        before = memory()
        if module.check_mode:
            most = meminfo.cache(before) / GIB
            module.exit_json(changed=True, back=round(most, 1), msg=f"At most {most:.1f} GiB would come back.")
        os.sync()
        DROP.write_text(PAGE_CACHE_AND_INODES, encoding="ascii")
        after = memory()
    except OSError as error:
        module.fail_json(msg=f"The page cache cannot be dropped: {error}. It needs root.")
    back, free = max(0, after["MemFree"] - before["MemFree"]) / GIB, after["MemFree"] / GIB
    module.exit_json(changed=True, back=round(back, 1), msg=f"{back:.1f} GiB came back; {free:.1f} GiB are free.")


if __name__ == "__main__":
    main()
