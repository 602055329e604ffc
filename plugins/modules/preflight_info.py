#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find on a host what is known to keep an engine from working."""

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_info
short_description: Find on a host what is known to keep an engine from working
version_added: 0.1.0
description:
  - Reads files and runs commands in one call, changes nothing, and answers each check of the preflight.
  - With a plan it also says what M(dgxspark.serving.replica_info) and M(dgxspark.serving.model_info) say, so that a
    deployment needs no further look.
  - Works without root; what only root can see is skipped then.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  plan:
    description: What M(dgxspark.serving.plan) returned. The controller takes this host's part of it.
    type: dict
    default: {}
  limits:
    description: The supervisor's limits that are wanted.
    type: dict
    default: {}
  memory_floor:
    description: Bytes of memory that must be left for the host.
    type: int
    default: 0
  mtu:
    description: MTU that the fabric is to have, in bytes.
    type: int
    default: 9000
  disk_warn:
    description: GB free where Docker keeps images, under which to warn.
    type: int
    default: 100
  disk_fail:
    description: GB free where Docker keeps images, under which the check fails.
    type: int
    default: 20
  sysctl:
    description: Kernel settings that are wanted beside or instead of ours; V(null) leaves one out.
    type: dict
    default: {}
  gpu_probe:
    description: Also start a container of the engine's image, to see the GPU in it.
    type: bool
    default: false
  versions:
    description:
      - Also start a container of the engine's image, to read the versions of what is in it.
      - Needed where hosts have an image that no registry knows, so that its digest cannot say that it is the same.
    type: bool
    default: false
  cache_dir:
    description: The Hugging Face cache of the host; empty for where C(huggingface_hub) looks.
    type: str
    default: ""
  architecture:
    description: Architecture that the image must have, in Docker's words.
    type: str
    default: arm64
  want:
    description: What is wanted of the host. The controller fills it in.
    type: dict
    default: {}
  rank:
    description: The host's rank. The controller fills it in.
    type: dict
    default: {}
  digests:
    description: SHA-256 of the files that all ranks share, by their kind. The controller fills it in.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Look at the host
  dgxspark.serving.preflight_info:
  register: here
  become: true
"""

RETURN = r"""
checks:
  description: The answers, in the order of their groups.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Group and word of the check, such as V(memory.swap).
      type: str
    status:
      description: V(pass), V(warn), V(fail) or V(skip).
      type: str
    found:
      description: What there is, or why nothing can be said.
      type: str
    wanted:
      description: What would be right.
      type: str
    detail:
      description: Background.
      type: str
    remedy:
      description: What to do.
      type: str
facts:
  description: What is compared between hosts, by group.
  returned: always
  type: dict
replica:
  description: What M(dgxspark.serving.replica_info) returns; empty where nothing is planned or Docker does not answer.
  returned: always
  type: dict
model:
  description: What M(dgxspark.serving.model_info) returns; empty where nothing is planned.
  returned: always
  type: dict
now:
  description: Time of the host's clock, in seconds since 1970.
  returned: always
  type: float
"""

import getpass
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import preflight_look, rank_look, tuning
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import judge, model_memory, planned, want
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, passed, skipped
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import image_versions
from ansible_collections.dgxspark.serving.plugins.module_utils.models import look as model_look
from ansible_collections.dgxspark.serving.plugins.module_utils.models import reference
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host

SILENT = "Docker does not answer"


def of_the_rank(
    options: Mapping[str, Any],
    docker: Docker | None,
    found: Sequence[Container],
    host: Host,
    model: model_look.Found | None,
) -> tuple[dict[str, Any], list[Check]]:
    """The ranks of the host, and the checks on what the wanted one needs."""
    rank = options["rank"]
    checks = planned.model(asdict(model) if model else None)
    if docker is None:
        words = ("docker.names", "network.ports", "image.present", "image.architecture")
        return {}, [*(skipped(name, SILENT) for name in words), *checks]
    source = model.mount if model else ""
    wanted = rank_look.Wanted(rank, options["limits"], source, options["digests"])
    here = rank_look.look(host, docker, found, wanted)
    checks += planned.from_problems("docker.names", rank_look.names(rank, found) if rank else None, "free, or ours")
    taken = rank_look.ports(host, rank, found) if rank else None
    checks += planned.from_problems("network.ports", taken, "free, or ours")
    image = rank["container"]["image"] if rank else ""
    return here, checks + planned.image(image, here.get("image"), options["architecture"])


def of_the_model(rank: Mapping[str, Any], cache_dir: str) -> model_look.Found:
    """The rank's model, as this host has it."""
    hub = rank.get("model_hub", reference.HUGGING_FACE)
    return model_look.look(rank["model"], cache_dir, hub, rank.get("model_revision", ""))


def memory_of_the_model(
    rank: Mapping[str, Any], model: model_look.Found | None, settled: bool, facts: Mapping[str, Any]
) -> Check:
    """Whether the rank's part of the model fits, where the model can be looked at."""
    if settled:
        return passed(model_memory.NAME, "the engine has it already")
    whole = model.facts if model and not model.problems else {}
    return model_memory.check(whole, rank.get("engine_memory"), facts)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "plan": {"type": "dict", "default": {}},
            "limits": {"type": "dict", "default": {}},
            "memory_floor": {"type": "int", "default": 0},
            "mtu": {"type": "int", "default": 9000},
            "disk_warn": {"type": "int", "default": 100},
            "disk_fail": {"type": "int", "default": 20},
            "sysctl": {"type": "dict", "default": {}},
            "gpu_probe": {"type": "bool", "default": False},
            "versions": {"type": "bool", "default": False},
            "cache_dir": {"type": "str", "default": ""},
            "architecture": {"type": "str", "default": "arm64"},
            "want": {"type": "dict", "default": {}},
            "rank": {"type": "dict", "default": {}},
            "digests": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    options = module.params
    host = Host()
    docker, found = preflight_look.docker(module)
    model = of_the_model(options["rank"], options["cache_dir"]) if options["rank"] else None
    try:
        here, checks = of_the_rank(options, docker, found, host, model)
    except ValueError as error:
        module.fail_json(msg=f"{host.paths.change} cannot be read ({error}). Remove it, and deploy again.")
    wanted = replace(
        want.read(options["want"], os.geteuid() == 0, getpass.getuser()),
        memory_floor=options["memory_floor"],
        mtu=options["mtu"],
        disk_warn=options["disk_warn"],
        disk_fail=options["disk_fail"],
        gpu_probe=options["gpu_probe"],
        versions=options["versions"],
        sysctl=tuning.wanted_sysctl(options["sysctl"]),
        shares_back=rank_look.shares(host, found),
        settled=bool(here) and here["running"] != [] and not here.get("replace", True),
    )
    raw = preflight_look.read(wanted, found)
    facts = judge.facts(raw, wanted)
    checks.append(memory_of_the_model(options["rank"], model, wanted.settled, facts["memory"]))
    module.exit_json(
        changed=False,
        checks=[asdict(check) for check in judge.in_order(checks + judge.checks(raw, wanted))],
        facts={
            **facts,
            "image": here.get("image"),
            "model": {"manifest": model.fingerprint} if model else {},
            "versions": image_versions.versions(raw),
        },
        replica=here,
        model=asdict(model) if model else {},
        now=time.time(),
    )


if __name__ == "__main__":
    main()
