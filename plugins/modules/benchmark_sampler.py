#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watch a host during a benchmark: memory, pressure, GPU, containers, network and RDMA, once a second."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_sampler
short_description: Watch a host during a benchmark
version_added: 0.1.0
description:
  - Samples memory, swap, pressure, GPU, the containers of our engines, network interfaces and RDMA devices of the host
    once a second, for under one hundredth of a core.
  - The sampler works in the background. It lives on when the connection breaks, and ends itself after O(seconds) when
    nobody ends it.
  - Who computes on the GPU and how much room disks have is looked at once when it starts and once when it is stopped.
  - What the host does not say, as when nvidia-smi shows C([N/A]) or hangs, is null, with a sentence in the C(errors) of
    RV(snapshots) where something is wrong.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  state:
    description:
      - V(started) has a sampler for O(run); when there is one already it lives for O(seconds) from now, and after a
        break it goes on where it was.
      - V(stopped) ends it after one more sample, and gives what it has seen, which is nothing when there is none.
        It stays on the host for a day, so that a run of which no report was written can go on with it.
      - V(absent) ends it and removes what it has seen.
      - V(once) takes one sample and leaves no process.
    type: str
    choices: [started, stopped, absent, once]
    required: true
  run:
    description: The benchmark's run, which the sampler belongs to. Needed unless O(state=once).
    type: str
    default: ""
  seconds:
    description: After so many seconds it ends itself.
    type: float
    default: 7200
  name:
    description: Name of the host in the result. Empty is its own name.
    type: str
    default: ""
  folders:
    description: Folders of whose disks the room is told, besides the one where Docker stores. Empty ones are left out.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Can run in check mode and starts and ends nothing.
    support: full
"""

EXAMPLES = r"""
- name: Watch
  dgxspark.serving.benchmark_sampler:
    state: started
    run: "{{ order.run.id }}"
    seconds: 14400
    folders: [/home/spark/.cache/huggingface]
    name: "{{ inventory_hostname }}"

- name: What was seen
  dgxspark.serving.benchmark_sampler:
    state: stopped
    run: "{{ order.run.id }}"
    name: "{{ inventory_hostname }}"
  register: seen
"""

RETURN = r"""
snapshots:
  description:
    - C(host), C(interval_s), C(samples), C(cost) in C(cpu_s) of C(seconds), and C(errors) in sentences.
    - Each sample has the Unix time C(t), C(mem) in bytes, C(psi) in percent of ten seconds, C(gpu), C(containers), and
      bytes so far of C(net) and C(rdma).
    - C(gpu) has in C(throttle) why the clock is held down, in the words of nvidia-smi, such as C(sw_power_cap).
    - C(gpu_processes) and C(disk), each with C(before) and C(after). Sizes of disks are bytes, by folder.
    - Of more than 7200 samples each second, third, ... is here.
    - Null when there was no sampler.
  returned: O(state) is V(stopped) or V(once)
  type: dict
env:
  description: Operating system, kernel, driver, clocks, memory, network interfaces and clock offset of the host.
  returned: O(state) is V(stopped) or V(once)
  type: dict
clock:
  description:
    - C(offset_s), by how many seconds the host's clock is ahead of the controller's, and C(error_s), how wrong this can
      be.
    - Null when the host did not tell its time.
  returned: O(state) is V(stopped) and not in check mode
  type: dict
running:
  description: Whether a sampler runs after this call.
  returned: always
  type: bool
"""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import disk
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import (
    environment,
    lines,
    sampling,
    standing,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler.job import ID, SamplerJob
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.look import look


def env() -> dict[str, Any]:
    """ENV of this host."""
    raw = look(environment.SOURCES)
    return environment.read(raw, platform.python_version(), os.cpu_count(), os.sysconf("SC_PAGE_SIZE"))


def standing_now(wanted: list[str]) -> dict[str, Any]:
    """Who computes on the GPU, and room on disks."""
    raw = look(standing.SOURCES)
    return standing.read(raw, {path: _room(path) for path in standing.folders(raw, wanted)})


def _room(path: str) -> tuple[int, int] | None:
    try:
        return disk.room(path)
    except OSError:
        return None


def once(host: str, root: Path, now: Mapping[str, Any]) -> dict[str, Any]:
    """SNAPSHOTS of one sample, with what is so now."""
    written: list[str] = []
    watched = sampling.Host(root, lambda sentence: written.append(lines.error_line(sentence)))
    try:
        written.append(lines.sample_line(watched.first_sample()))
    finally:
        watched.close()
    return {**lines.snapshots(host, "".join(written)), **standing.both(now, None)}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["started", "stopped", "absent", "once"], "required": True},
            "run": {"type": "str", "default": ""},
            "seconds": {"type": "float", "default": 7200},
            "name": {"type": "str", "default": ""},
            "folders": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    wish = module.params
    host = wish["name"] or platform.node()

    def now() -> dict[str, Any]:
        return standing_now(wish["folders"])

    if wish["state"] == "once":
        module.exit_json(changed=False, running=False, snapshots=once(host, Path("/"), now()), env=env())
    if not ID.fullmatch(wish["run"]):
        module.fail_json(
            msg=f"run: found {wish['run']!r}, wanted the id of a run: letters, digits, dots, dashes and underscores. "
            "Set run to the run.id of the benchmark's order."
        )
    if wish["seconds"] <= 0:
        module.fail_json(
            msg=f"seconds: found {wish['seconds']:g}, wanted more than 0. Set seconds to the run's length."
        )
    job = SamplerJob(wish["run"])
    if wish["state"] == "stopped":
        snapshots = None if module.check_mode else job.stop(host, now)
        module.exit_json(changed=False, running=job.running, snapshots=snapshots, env=env())
    if module.check_mode:
        module.exit_json(changed=False, running=job.running)
    if wish["state"] == "absent":
        job.forget()
        module.exit_json(changed=False, running=job.running)
    trouble = job.start(wish["seconds"], now)
    if trouble:
        module.fail_json(msg=f"The sampler of run {wish['run']} does not start: {trouble}")
    module.exit_json(changed=False, running=job.running)


if __name__ == "__main__":
    main()
