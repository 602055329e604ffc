#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start, watch and end the commands of a fabric test on one host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_test_jobs
short_description: Start, watch and end the commands of a fabric test
version_added: 0.1.0
description:
  - Runs in this order what is asked for, O(end), O(start), O(watch).
  - A job outlives the call, and ends by itself after its limit, also when nobody asks again.
  - M(dgxspark.serving.fabric_test_plan) says which jobs; M(dgxspark.serving.fabric_test_measure) uses this module.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  start:
    description: Jobs to start, as the plan has them.
    type: list
    elements: dict
    default: []
  ports:
    description: Ports of the other host's jobs, by their names, for the jobs that use them.
    type: dict
    default: {}
  watch:
    description: Names of jobs to wait for.
    type: list
    elements: str
    default: []
  window:
    description: Seconds after which the call returns although a job still runs.
    type: int
    default: 8
  interfaces:
    description: Network interfaces whose counters are read.
    type: list
    elements: str
    default: []
  devices:
    description: RDMA devices whose counters are read.
    type: list
    elements: str
    default: []
  end:
    description: End all jobs of the test that are left, and remove their containers.
    type: bool
    default: false
attributes:
  check_mode:
    description: Can run in check mode and starts nothing.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: What it starts is gone after the test.
"""

EXAMPLES = r"""
- name: Listen
  dgxspark.serving.fabric_test_jobs:
    start:
      - name: tcp
        argv: [iperf3, --server, --one-off, --bind, 192.0.2.11, --port, "@PORT@"]
        address: 192.0.2.11
        listens: true
        limit: 60
"""

RETURN = r"""
ports:
  description: The port of each job that was started with an address.
  returned: always
  type: dict
ended:
  description: For each watched job that has ended C(code), C(out) and C(err).
  returned: always
  type: dict
running:
  description: Watched jobs that still run.
  returned: always
  type: list
  elements: str
counters:
  description:
    - Bytes sent so far by each interface and RDMA device, as C(before) the jobs started and as C(after), at the end of
      the call.
  returned: always
  type: dict
"""

import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import host_look
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import counters
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.all_gather import CONTAINER
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.jobs import (
    START_SECONDS,
    Jobs,
    environment,
    free_port,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.orders import ALL_GATHER, PORT
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.look import look
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths

POLL = 0.1


def start(jobs: Jobs, wanted: Iterable[Mapping[str, Any]], theirs: Mapping[str, Any]) -> dict[str, int]:
    """Start jobs; the ports of those that have an address.

    :param theirs: ports of the other host's jobs
    :raises OSError: when the host does not have an address
    """
    ports, listening = {}, set()
    for job in wanted:
        name = job["name"]
        if job.get("address"):
            ports[name] = free_port(job["address"])
        port = str(ports.get(name) or theirs.get(job.get("port_of", ""), ""))
        jobs.start(name, [word.replace(PORT, port) for word in job["argv"]], float(job["limit"]))
        if job.get("listens"):
            listening.add(ports[name])
    until = time.monotonic() + START_SECONDS
    while listening - {one.port for one in host_look.listeners()} and time.monotonic() < until:
        time.sleep(POLL)
    return ports


def watch(jobs: Jobs, names: Iterable[str], window: float) -> dict[str, dict[str, Any]]:
    """Wait for jobs, and say what came of those that have ended."""
    until = time.monotonic() + window
    while True:
        found = {name: jobs.look(name) for name in names}
        if all(found.values()) or time.monotonic() >= until:
            return {name: ended for name, ended in found.items() if ended}
        time.sleep(POLL)


def end(jobs: Jobs) -> None:
    """End all that is left."""
    names = jobs.names()
    for name in names:
        jobs.end(name)
    docker = shutil.which("docker", path=environment()["PATH"])
    if docker and any(name.startswith(ALL_GATHER) for name in names):
        subprocess.run([docker, "container", "rm", "--force", CONTAINER], check=False, capture_output=True)
    with suppress(OSError):  # not there, or somebody else's file is in it
        jobs.folder.rmdir()


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "start": {"type": "list", "elements": "dict", "default": []},
            "ports": {"type": "dict", "default": {}},
            "watch": {"type": "list", "elements": "str", "default": []},
            "window": {"type": "int", "default": 8},
            "interfaces": {"type": "list", "elements": "str", "default": []},
            "devices": {"type": "list", "elements": "str", "default": []},
            "end": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    wish = module.params
    result: dict[str, Any] = {"changed": False, "ports": {}, "ended": {}, "running": [], "counters": {}}
    if module.check_mode:
        module.exit_json(**result)
    jobs = Jobs(HostPaths().run / "fabric-test")
    if wish["end"]:
        end(jobs)
    names = (wish["interfaces"], wish["devices"])
    before = counters.read(look(counters.sources(*names)), *names)
    try:
        result["ports"] = start(jobs, wish["start"], wish["ports"])
    except OSError as error:
        address = next((job["address"] for job in wish["start"] if job.get("address")), "")
        module.fail_json(
            msg=f"The test cannot listen at {address}: {error.strerror}. Correct fabric_links, or set the address "
            "with: ansible-playbook prepare.yml --tags fabric."
        )
    if wish["watch"]:
        result["ended"] = watch(jobs, wish["watch"], wish["window"])
        result["running"] = [name for name in wish["watch"] if name not in result["ended"]]
    after = counters.read(look(counters.sources(*names)), *names)
    module.exit_json(**{**result, "counters": {"before": before, "after": after}})


if __name__ == "__main__":
    main()
