#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_test_measure
short_description: Measure the fabric from one host to its peer
version_added: 0.1.0
description:
  - Runs one measurement after the other on the host, and says so on the controller's screen, also without C(-v).
  - The peer's servers must have been started with M(dgxspark.serving.fabric_test_jobs).
  - A measurement that fails is a result, too; M(dgxspark.serving.fabric_test_report) judges it.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  pair:
    description: Name of the pair, for the results.
    type: str
    required: true
  measurements:
    description: What to measure, as RV(dgxspark.serving.fabric_test_plan#module:rounds) has it.
    type: list
    elements: dict
    required: true
  ports:
    description: Ports of the peer's servers, by the names of their jobs.
    type: dict
    default: {}
  interfaces:
    description: Network interfaces whose counters are read before and after.
    type: list
    elements: str
    default: []
  devices:
    description: RDMA devices whose counters are read before and after.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Can run in check mode and measures nothing.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing.
"""

EXAMPLES = r"""
- name: Measure
  dgxspark.serving.fabric_test_measure:
    pair: spark1 - spark2
    measurements: "{{ part.tools }}"
    ports: "{{ hostvars[part.peer].served.ports }}"
"""

RETURN = r"""
results:
  description: One for each measurement.
  returned: when not in check mode
  type: list
  elements: dict
  contains:
    kind:
      description: V(tcp), V(rdma_bandwidth), V(rdma_latency) or V(all_gather).
      type: str
    over:
      description: Interfaces or RDMA devices.
      type: list
      elements: str
    value:
      description: The figure, in RV(results[].unit); V(null) when there is none.
      type: float
    unit:
      description: V(Gb/s), V(us) or V(GB/s).
      type: str
    skipped:
      description: Why it was not measured; empty when it was.
      type: str
    failed:
      description: Why it failed; empty when it did not.
      type: str
"""
