#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Play the rounds of a benchmark from one host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark
short_description: Play the rounds of a benchmark from one host
version_added: 0.1.0
description:
  - Sends the requests of an order to its targets, measures the answers, and brings each finished round to the
    controller at once. It needs Python 3.10 on its host and nothing else.
  - Before any load it looks at all targets. One that does not answer, that refuses the key, that serves another name,
    or that makes no token, is refused with the words of the server, all such faults at once.
  - The work goes on in the background of the host, also when the connection breaks. The action plugin of the same name
    follows it, shows how far it is, and writes the rounds into a folder of the controller.
  - Failed requests do not fail the module; they are part of what is measured.
  - A target that answers no request of three rounds in a row is left out from there on; where it answers, and all
    requests of three rounds of a case failed, that case is left out at its endpoint of this target. A ladder of loads
    ends when a step brings less than 5 % more tokens per second, or when first tokens come later than they may.
  - An interrupted run keeps all finished rounds, and goes on with O(resume=true). Ctrl-C ends the load.
extends_documentation_fragment:
  - dgxspark.serving.background
options:
  order:
    description:
      - What is to be played, as M(dgxspark.serving.benchmark_plan) returns it. Required to begin. At the end of the run
        the key and the certificates that were laid for it are removed.
      - It holds paths of files with keys, which are on this host, and no key.
    type: dict
  have:
    description: Ids of the rounds that the controller holds. The action plugin gives them.
    type: list
    elements: str
    default: []
  known:
    description: What is needed of the rounds in O(have) to go on after them. The action plugin gives it.
    type: list
    elements: dict
    default: []
  self_test:
    description:
      - Whether the client measures a server of known truth on its own host first, for some 2 seconds. What it was off
        by is part of the result, and never fails a run.
      - A run that goes on keeps the figures that it has.
    type: bool
    default: true
  results:
    description:
      - Only in a task, and required there. Folder of the run on the controller. Each round becomes a file
        C(rounds/ID.json.gz) in it.
    type: path
  resume:
    description: Only in a task. Whether to go on with the rounds that are in O(results).
    type: bool
    default: false
attributes:
  check_mode:
    description: Can run in check mode; the action plugin says what would be played, and nothing is asked of a target.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing on its host.
"""

EXAMPLES = r"""
- name: Play all rounds
  dgxspark.serving.benchmark:
    order: "{{ planned.order }}"
    results: "{{ planned.folder }}"
  register: played
  delegate_to: "{{ planned.client }}"
  run_once: true

- name: Go on with a run that was interrupted
  dgxspark.serving.benchmark:
    order: "{{ planned.order }}"
    results: results/20261130T101500Z-standard
    resume: true
  delegate_to: "{{ planned.client }}"
  run_once: true
"""

RETURN = r"""
folder:
  description: Folder of the run on the controller, with the rounds in C(rounds/).
  returned: in a task, unless in check mode
  type: str
rounds:
  description:
    - In a task the number of rounds that are in RV(folder), those of an interrupted run among them.
    - Of the module itself the finished rounds that are not in O(have), by id, packed; RV(left) more come next time.
  returned: unless in check mode
  type: raw
left:
  description: Finished rounds that are still on the host.
  returned: of the module itself
  type: int
self_test:
  description: By how much the client was off against a server of known truth, in percent; null when that was not tried.
  returned: unless in check mode
  type: dict
played:
  description: Rounds that this run has played.
  returned: when it is done
  type: int
skipped_rounds:
  description: Rounds that were not played, for the reason that stands in each of them.
  returned: in a task, when it is done
  type: int
requests:
  description: Requests of all rounds in RV(folder), those of warm-up rounds among them.
  returned: in a task, when it is done
  type: int
failed_requests:
  description: Those of them that failed.
  returned: in a task, when it is done
  type: int
errors:
  description: How many failed, by kind.
  returned: in a task, when it is done
  type: dict
nothing_worked:
  description: Whether not one request of the run succeeded.
  returned: in a task, when it is done
  type: bool
failure:
  description:
    - Why the run ended before its last round, or did not begin; empty when it went to its end. The task fails then.
  returned: unless in check mode
  type: str
started:
  description: When the first round began, in UTC; null when none was played.
  returned: in a task, when it is done
  type: str
ended:
  description: When the last round ended, in UTC; null when none was played.
  returned: in a task, when it is done
  type: str
job:
  description: How far the work is; C(state) (C(running), C(done), C(failed)), C(text), C(seconds).
  returned: unless in check mode
  type: dict
"""

from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import JOB_OPTIONS, Progress, run_job
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import Kept
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.laid import laid_files, remove
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.order_check import order_faults
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.work import work
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError


class WithRounds:
    """The module whose every answer brings finished rounds, also that of a failure and of the end."""

    def __init__(self, module: AnsibleModule, kept: Kept) -> None:
        self._module, self._kept = module, kept
        self.params: dict[str, Any] = module.params
        self.check_mode: bool = module.check_mode

    def exit_json(self, **result: Any) -> NoReturn:
        self._module.exit_json(**{**result, "changed": False}, **self._rounds())

    def fail_json(self, msg: str, **result: Any) -> NoReturn:
        self._module.fail_json(msg=msg, **result, **self._rounds())

    def _rounds(self) -> dict[str, Any]:
        answer = self._kept.answer(self.params["have"])
        if self.params["job_stage"] == "stop":
            if not answer["rounds"]:
                self._kept.end()
            remove(laid_files(self.params["order"]) if self.params["order"] else [])
        return answer


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "order": {"type": "dict"},
            "have": {"type": "list", "elements": "str", "default": []},
            "known": {"type": "list", "elements": "dict", "default": []},
            "self_test": {"type": "bool", "default": True},
            # What the action plugin takes out.
            "results": {"type": "path"},
            "resume": {"type": "bool", "default": False},
            **JOB_OPTIONS,
        },
        supports_check_mode=True,
    )
    options = module.params
    kept = Kept(options["job_id"] or "work")
    answering = WithRounds(module, kept)
    if module.check_mode:
        module.exit_json(changed=False)
    if options["job_stage"] == "start":
        faults = order_faults(options["order"] or {})
        if faults:
            answering.fail_json(str(ConfigurationError(faults)))

    def play(progress: Progress) -> dict[str, Any]:
        return work(options["order"], options["known"], kept, progress, tests_client=options["self_test"])

    run_job(answering, play, changed=False)


if __name__ == "__main__":
    main()
