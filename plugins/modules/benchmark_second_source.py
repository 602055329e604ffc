#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a second source for the figures of a benchmark: vllm-rs bench serve in the engine's container."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_second_source
short_description: Ask a second source for the figures of a benchmark
version_added: 0.1.0
description:
  - Looks for the program C(vllm-rs) in the container of a running engine, on its PATH or in its package C(vllm), and
    lets its C(bench serve) ask the engine once more what the benchmark has asked. That is an independent check of the
    benchmark's own client.
  - Runs on the host of the engine, by C(docker exec). The engine's key is read inside the container; it is in no
    command line and in no answer. Nothing is left in the container.
  - What cannot be asked is a sentence in C(notes), never a failure.
  - In a task its action plugin chooses prompts as long as those of the finished rounds, and writes the JSON of the
    program into the folder of the run, where M(dgxspark.serving.benchmark_import) can read it.
extends_documentation_fragment:
  - dgxspark.serving.background
options:
  wanted:
    description:
      - What is to be asked, as C(second_source) of M(dgxspark.serving.benchmark_plan). Required to begin.
    type: dict
  order:
    description: Only in a task. What was measured, as M(dgxspark.serving.benchmark_plan) returned it.
    type: dict
  results:
    description: Only in a task. Folder of the run on the controller, with C(rounds/) in it.
    type: path
attributes:
  check_mode:
    description: Can run in check mode; the action plugin says what would be asked.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing on its host.
"""

EXAMPLES = r"""
- name: Ask vllm-rs as well
  dgxspark.serving.benchmark_second_source:
    wanted: "{{ planned.second_source }}"
    order: "{{ planned.order }}"
    results: "{{ planned.folder }}"
  register: second
  delegate_to: "{{ planned.second_source.host }}"
  run_once: true
  become: true
"""

RETURN = r"""
second_source:
  description:
    - In a task C(host), C(program), C(version), C(asked) with the C(point), the C(file) and the C(figures) of each, and
      C(notes). Of the module itself C(asked) has the C(document) of each.
  returned: when it is done
  type: dict
job:
  description: How far the work is.
  returned: while it works
  type: dict
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import JOB_OPTIONS, Progress, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.second.ask import ask


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "wanted": {"type": "dict"},
            # What the action plugin takes out.
            "order": {"type": "dict"},
            "results": {"type": "path"},
            **JOB_OPTIONS,
        },
        supports_check_mode=True,
    )
    docker = module.get_bin_path("docker", required=True)

    def work(progress: Progress) -> dict[str, Any]:
        return {"second_source": ask(module.params["wanted"], docker, progress.tell)}

    run_job(module, work, changed=False)


if __name__ == "__main__":
    main()
