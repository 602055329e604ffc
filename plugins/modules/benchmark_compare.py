#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_compare
short_description: Say whether a run of the benchmark got better or worse than another
version_added: 0.1.0
description:
  - Lays two results of the benchmark beside each other and judges each figure of each point that both have.
  - A figure is a regression or an improvement when the 95 % confidence interval of its ratio leaves out 1 and the ratio
    is beyond the margin. It has not changed when the whole interval is within the margin. Otherwise the rounds do not
    tell, and the number of rounds that would is named.
  - The rounds are the unit, and their logarithms are compared. Holm's adjustment over the points of the report keeps
    the chance of a false alarm for each metric at that of a single comparison.
  - Any more failed requests than before are a regression. Nothing else is judged of points that are invalid in either
    run.
  - Refuses to compare what was not measured alike, and names each difference.
  - Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  candidate:
    description: The C(result.json) of the run that is judged, or the folder that holds it.
    type: path
    required: true
  baseline:
    description: The C(result.json) of the run that it is judged against, or its folder.
    type: path
    required: true
  margins:
    description:
      - How much a figure may change before it counts, as a share for each metric. Laid over the defaults, which are
        C(ttft_ms) 0.10, C(tpot_ms) 0.05, C(output_tps) 0.05 and C(ttft_least_ms) 20.
      - A change of TTFT counts only when it is also more than C(ttft_least_ms) milliseconds.
      - Also compares C(itl_ms), C(e2el_ms), C(output_tps_steady), C(decode_tps), C(request_rate), C(prefill_tps) or
        C(goodput_rate), when a margin is given for it. V(null) leaves a metric out.
    type: dict
    default: {}
  allow_differences:
    description:
      - What may differ between the two runs, V(all) or some of V(engine), V(model), V(revision), V(quant),
        V(max_model_len), V(tensor_parallel_size), V(pipeline_parallel_size), V(nnodes), V(engine_version),
        V(replicas), V(case_digest), V(token_source), V(power_mode) and V(client).
      - Of V(engine_version) the major and minor numbers count.
    type: list
    elements: str
    default: []
  path:
    description: File on the controller into which the comparison is written as JSON.
    type: path
  fail_on:
    description:
      - When the task fails.
      - V(inconclusive) fails on a regression, and also where the rounds do not tell.
    type: str
    choices:
      - regression
      - inconclusive
      - never
    default: regression
"""

EXAMPLES = r"""
- name: Compare the run of today with the one before the upgrade
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Compare
      dgxspark.serving.benchmark_compare:
        candidate: results/20261130T101500Z-standard-main
        baseline: results/20261123T101500Z-standard-main/result.json

    - name: Compare an engine with its successor, in a pipeline that takes no doubt
      dgxspark.serving.benchmark_compare:
        candidate: new/result.json
        baseline: old/result.json
        allow_differences:
          - engine_version
        margins:
          tpot_ms: 0.03
        fail_on: inconclusive
        path: comparison.json
"""

RETURN = r"""
comparison:
  description: All that was compared.
  returned: when both runs may be compared
  type: dict
  contains:
    baseline:
      description: C(run id), C(started) and C(label) of the run that was compared with.
      type: dict
    margins:
      description: The margins that held.
      type: dict
    rows:
      description: One for each metric of each point that both runs have.
      type: list
      elements: dict
      contains:
        case:
          description: What was asked.
          type: str
        target:
          description: Who was asked.
          type: str
        n:
          description: How many users at once; V(null) for a load with a rate.
          type: int
        metric:
          description: For example V(tpot_ms) or V(error_rate).
          type: str
        baseline:
          description: Geometric mean of the baseline's rounds, V(null) when there is none.
          type: float
        candidate:
          description: The same of the run that is judged.
          type: float
        ratio:
          description: Of the candidate to the baseline.
          type: float
        ci95:
          description: The 95 % confidence interval of the ratio; V(null) where the rounds have no spread.
          type: list
          elements: float
        verdict:
          description: V(regression), V(improvement), V(no change) or V(inconclusive).
          type: str
        needed_rounds:
          description: How many rounds of either run would settle what is inconclusive; V(null) when none can be named.
          type: int
        note:
          description: A sentence that says why there is no verdict, or what failed; mostly empty.
          type: str
        point:
          description: Name of the point.
          type: str
    only_in_baseline:
      description:
        - Points that the candidate lacks, each with C(asked), whether it was to measure them, and C(why) it did not.
        - One that was asked for makes the verdict V(inconclusive) at least; one of another suite does not.
      type: list
      elements: dict
    only_now:
      description: Points that the baseline lacks.
      type: list
      elements: dict
    notes:
      description: Sentences on what else a reader must know of the two runs.
      type: list
      elements: str
    guard:
      description: C(differences) between the runs that were allowed, and C(overridden), whether there are any.
      type: dict
    verdict:
      description: The worst of all rows, and of points that lack although they were asked for.
      type: str
    exit_code:
      description: V(0), V(1) for a regression or V(3) when the rounds do not tell.
      type: int
verdict:
  description: The same as RV(comparison.verdict).
  returned: when both runs may be compared
  type: str
exit_code:
  description: The same as RV(comparison.exit_code), for a pipeline that ends with a status of its own.
  returned: when both runs may be compared
  type: int
lines:
  description: What was printed.
  returned: when both runs may be compared
  type: list
  elements: str
"""
