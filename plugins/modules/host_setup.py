#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the files of the role host, and bring back those that were there before."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_setup
short_description: Write the files of the role host, and bring back those that were there before
version_added: 0.1.0
description:
  - Writes what M(dgxspark.serving.host_info) has found to be due, after it has kept on the host how it was before.
  - Sets the scores by which the kernel spares running services, so that these need no new start.
  - Needs root.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description: Whether the files are to be there, or to be as they were before.
    type: str
    choices: [present, restored]
    default: present
  files:
    description: Texts by path, with O(state=present).
    type: dict
    default: {}
  keep:
    description: Files that others change and whose text is kept, with O(state=present).
    type: list
    elements: path
    default: []
  notes:
    description: What else to keep, with O(state=present). What was kept first stays.
    type: dict
    default: {}
  scores:
    description: OOM scores of the processes of services, by unit.
    type: dict
    default: {}
  drop:
    description: Files that are left as they are, with O(state=restored).
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    description: Says what would be written.
    support: full
  diff_mode:
    description: Returns the files before and after.
    support: full
"""

EXAMPLES = r"""
- name: Look
  dgxspark.serving.host_info:
  register: here
  become: true

- name: Write what is due
  dgxspark.serving.host_setup:
    files: "{{ here.due.files }}"
    notes: "{{ here.due.notes }}"
    scores: "{{ here.due.scores }}"
  become: true
"""

RETURN = r"""
written:
  description: Paths of the files that were or would be changed or removed.
  returned: always
  type: list
  elements: str
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.host_files import HostFiles
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import units
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.look import oom_score
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.record import Setup


def differences(files: HostFiles, wanted: Mapping[str, str | None]) -> list[dict[str, str]]:
    """What changes in files; a wanted text of None is no file."""
    diffs = []
    for path, text in wanted.items():
        found = files.read(path)
        if found != text:
            diffs.append({"before_header": path, "after_header": path, "before": found or "", "after": text or ""})
    return diffs


def scored(module: AnsibleModule, scores: Mapping[str, Any]) -> list[dict[str, str]]:
    """Set OOM scores; what changes is returned as differences.

    :raises OSError: root may not
    """
    diffs = []
    found = units.parse(module.run_command(units.show(scores))[1]) if scores else {}
    for name, wanted in scores.items():
        pid = found[name].pid if name in found else 0
        score = oom_score(pid)
        if score is None or score == int(wanted):
            continue
        header = f"OOM score of {name}"
        diffs.append({"before_header": header, "after_header": header, "before": f"{score}\n", "after": f"{wanted}\n"})
        if not module.check_mode:
            Path(f"/proc/{pid}/oom_score_adj").write_text(f"{wanted}\n", encoding="ascii")
    return diffs


def present(module: AnsibleModule, setup: Setup) -> list[dict[str, str]]:
    """Write the files; the differences."""
    params = module.params
    diffs = differences(setup.files, params["files"])
    if not module.check_mode:
        setup.remember([*params["files"], *params["keep"]], params["notes"])
        for path, text in params["files"].items():
            setup.files.write(path, text)
    return diffs + scored(module, params["scores"])


def restored(module: AnsibleModule, setup: Setup) -> list[dict[str, str]]:
    """Bring back what was there; the differences."""
    params = module.params
    before = {path: one["text"] for path, one in setup.read()["files"].items() if path not in params["drop"]}
    diffs = differences(setup.files, before) + scored(module, params["scores"])
    if not module.check_mode:
        setup.restore(params["drop"])
    return diffs


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "restored"], "default": "present"},
            "files": {"type": "dict", "default": {}},
            "keep": {"type": "list", "elements": "path", "default": []},
            "notes": {"type": "dict", "default": {}},
            "scores": {"type": "dict", "default": {}},
            "drop": {"type": "list", "elements": "path", "default": []},
        },
        supports_check_mode=True,
    )
    setup = Setup(HostFiles())
    try:
        diffs = present(module, setup) if module.params["state"] == "present" else restored(module, setup)
    except (OSError, ValueError, KeyError) as error:
        module.fail_json(msg=f"The host's files cannot be changed: {error}. It needs root and room on the disk.")
    module.exit_json(
        changed=bool(diffs),
        written=[diff["before_header"] for diff in diffs],
        diff=diffs,
    )


if __name__ == "__main__":
    main()
