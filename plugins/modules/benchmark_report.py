#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_report
short_description: Make the report of a benchmark
version_added: 0.1.0
description:
  - Reads the rounds of a run from its folder, works out what they say together and writes the report beside them.
  - Writes C(result.json), C(report.md), C(report.csv), C(report.html), C(junit.xml) and C(requests.jsonl.gz); all of
    them or, when the disk is full, none.
  - The page C(report.html) needs no other file, no network and no script. It has pictures when matplotlib is installed
    on the controller, and says so when it is not.
  - The report holds no key, no path of a key file and no password.
  - It does not fail for what it reports; RV(failure) says why a pipeline should stop.
  - Runs on the controller.
author:
  - dgxspark.serving contributors (@dgxspark)
attributes:
  check_mode:
    description: Can run in check mode and writes nothing.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: A report is new each time.
options:
  plan:
    description: What M(dgxspark.serving.plan) returned.
    type: dict
    default: {}
  order:
    description: What was to be measured, as M(dgxspark.serving.benchmark_plan) returned it.
    type: dict
    required: true
  results:
    description: Folder of the run on the controller, with C(rounds/) in it. The report is written there.
    type: path
    required: true
  samples_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.benchmark_sampler) returned at its end.
    type: str
    default: ""
  running_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.benchmark_info) returned.
    type: str
    default: ""
  model_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.model_info) returned.
    type: str
    default: ""
  gateway_variable:
    description: Variable that holds, on each host, what M(dgxspark.serving.gateway_info) returned.
    type: str
    default: ""
  client:
    description:
      - Name in the inventory of the host that asked, or V(localhost) for the controller. By its clock and those that
        O(samples_variable) holds, samples are laid beside the rounds.
      - Empty takes the clocks of all hosts for right.
    type: str
    default: ""
  merged:
    description:
      - What M(dgxspark.serving.benchmark_blocks) has brought together of several runs.
      - Its C(rounds_folder), C(deployments), C(envs) and C(snapshots) take the place of what hosts hold in variables.
      - Its C(self_test) takes the place of the one in the run's folder.
    type: dict
    default: {}
  notes:
    description: Sentences that become findings of the report.
    type: list
    elements: str
    default: []
  second_source:
    description: >-
      The C(second_source) of M(dgxspark.serving.benchmark_second_source), to be laid beside the figures of the run, or
      that of M(dgxspark.serving.benchmark_plan) when nothing was asked.
    type: dict
    default: {}
  interrupted:
    description: Whether the run ended early. A run of which rounds are missing is always taken to be interrupted.
    type: bool
    default: false
  baseline:
    description:
      - An earlier run's C(result.json) on the controller, or its folder, with which this one is compared.
      - When the two cannot be compared, the report is written without a comparison and RV(failure) says why.
    type: str
    default: ""
  margins:
    description: As for M(dgxspark.serving.benchmark_compare).
    type: dict
    default: {}
  allow_differences:
    description: As for M(dgxspark.serving.benchmark_compare).
    type: list
    elements: str
    default: []
  fail_on:
    description:
      - As for M(dgxspark.serving.benchmark_compare), for what RV(failure) says of the comparison.
      - What could not be measured or compared is a failure all the same.
    type: str
    choices: [regression, inconclusive, never]
    default: regression
  formats:
    description: What is written besides C(result.json) and the requests.
    type: list
    elements: str
    choices: [markdown, csv, html, junit]
    default: [markdown, csv, html, junit]
  pictures:
    description: Whether the page has pictures.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Report
  dgxspark.serving.benchmark_report:
    plan: "{{ plan }}"
    order: "{{ planned.order }}"
    results: "{{ planned.folder }}"
    samples_variable: samples
    baseline: results/20261101T080000Z-standard-main
  run_once: true
  register: report

- name: Stop the pipeline
  ansible.builtin.fail:
    msg: "{{ report.failure }}"
  when: report.failure | length > 0
"""

RETURN = r"""
lines:
  description: What was printed.
  returned: when not in check mode
  type: list
  elements: str
paths:
  description: The files that were written.
  returned: when not in check mode
  type: list
  elements: str
findings:
  description: What stood out, the sentence of each in C(text).
  returned: when not in check mode
  type: list
  elements: dict
comparison:
  description: As RV(dgxspark.serving.benchmark_compare#module:comparison); V(null) without a baseline.
  returned: when not in check mode
  type: dict
decision:
  description: Which of TP=1 on each host and TP=2 fits which use; V(null) when not both were measured.
  returned: when not in check mode
  type: dict
failure:
  description:
    - Why a pipeline should stop, that is when nothing was measured, when not one request succeeded, when a target no
      longer answered, when the run could not be compared, and when O(fail_on) says so of the comparison. Empty
      otherwise.
  returned: when not in check mode
  type: str
exit_code:
  description: V(0) when all is well, V(1) for a reason to stop, V(3) when the comparison is inconclusive.
  returned: when not in check mode
  type: int
"""
